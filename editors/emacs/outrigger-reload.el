;;; outrigger-reload.el --- Loads what an agent has written  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Loads a file again, where it is open, once the agent has written it.

;;; Code:

(require 'outrigger-text)

(defconst outrigger-reload--interval 0.25
  "How often in seconds to look whether an agent has written a file.")

(defconst outrigger-reload--patience 30
  "How long in seconds to look for it.")

(defun outrigger-reload-expect (path &optional merged)
  "The agent may write the file at PATH any moment.
MERGED is the text of the buffer that is part of what it writes, if
the person has accepted that.
It may do so in several steps, so the looks go on after the first change."
  (let ((end (+ (float-time) outrigger-reload--patience))
        timer)
    (setq timer
          (run-with-timer
           0 outrigger-reload--interval
           (lambda ()
             (let ((buffer (find-buffer-visiting path)))
               (when (or (null buffer)
                         (> (float-time) end)
                         (eq (outrigger-reload-buffer buffer merged) 'unsaved))
                 (cancel-timer timer))))))))

(defun outrigger-reload-buffer (buffer &optional merged)
  "Take over in BUFFER what was written to its file.
Return `loaded' then, and nil if nothing was written.  A buffer with
unsaved changes is left alone, unless its text is MERGED, which is
part of what was written; return `unsaved' for it."
  (with-current-buffer buffer
    ;; Emacs would wait at a pipe that is in its place for somebody to write into it.
    (unless (or (verify-visited-file-modtime buffer) (not (file-regular-p buffer-file-name)))
      (cond ((and (buffer-modified-p)
                  (not (and merged (outrigger-text-same-p (outrigger-text-of-buffer) merged))))
             (message "%s was written by the agent; your buffer has unsaved changes"
                      (outrigger-text-line (file-name-nondirectory buffer-file-name)))
             'unsaved)
            (t
             (revert-buffer t t t)
             'loaded)))))

(provide 'outrigger-reload)
;;; outrigger-reload.el ends here
