;;; outrigger-reload.el --- Loads what an agent has written  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Loads a file again, where it is open, once the agent has written it.

;;; Code:

(defconst outrigger-reload--interval 0.25
  "How often in seconds to look whether an agent has written a file.")

(defconst outrigger-reload--patience 30
  "How long in seconds to look for it.")

(defun outrigger-reload-expect (path)
  "Load the file at PATH again where it is open, once the agent has written it."
  (let ((end (+ (float-time) outrigger-reload--patience))
        timer)
    (setq timer
          (run-with-timer
           0 outrigger-reload--interval
           (lambda ()
             (let ((buffer (find-buffer-visiting path)))
               (when (or (null buffer)
                         (> (float-time) end)
                         (outrigger-reload-buffer buffer))
                 (cancel-timer timer))))))))

(defun outrigger-reload-buffer (buffer)
  "Take over in BUFFER what was written to its file; return nil if nothing was.
A buffer with unsaved changes is left alone."
  (with-current-buffer buffer
    (unless (or (verify-visited-file-modtime buffer) (not (file-exists-p buffer-file-name)))
      (if (buffer-modified-p)
          (message "%s was written by the agent; your buffer has unsaved changes"
                   (file-name-nondirectory buffer-file-name))
        (revert-buffer t t t))
      t)))

(provide 'outrigger-reload)
;;; outrigger-reload.el ends here
