;;; outrigger-log.el --- What has happened  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The buffer behind `outrigger-log'.  No text of a file and no secret is ever
;; part of it.

;;; Code:

(require 'outrigger-text)

(defconst outrigger-log--name "*outrigger-log*"
  "The name of the buffer with the log.")

(defconst outrigger-log--limit 200000
  "How many characters of the log are kept.")

(defun outrigger-log-buffer ()
  "Return the buffer with the log."
  (or (get-buffer outrigger-log--name)
      (with-current-buffer (get-buffer-create outrigger-log--name)
        (special-mode)
        (buffer-disable-undo)
        (current-buffer))))

(defun outrigger-log-add (root text)
  "Write TEXT to the log as something that happened in the workspace at ROOT."
  (with-current-buffer (outrigger-log-buffer)
    (let ((inhibit-read-only t)
          (following (= (point) (point-max))))
      (save-excursion
        (goto-char (point-max))
        (insert (format-time-string "%T ") (abbreviate-file-name root) "  "
                (outrigger-text-line text) "\n")
        (when (> (buffer-size) outrigger-log--limit)
          (delete-region (point-min) (/ (buffer-size) 2))))
      (when following
        (goto-char (point-max))))))

(provide 'outrigger-log)
;;; outrigger-log.el ends here
