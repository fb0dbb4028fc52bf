;;; outrigger-text.el --- Texts of messages and of buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Texts as they are in messages and files, and as they are in buffers.  What
;; goes in comes out, byte for byte.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst outrigger-text--foreign "[^\x00-\uD7FF\uE000-\U0010FFFF]"
  "Matches what a buffer can hold and a message cannot, such as a stray byte.")

(defun outrigger-text-clean (text)
  "Return TEXT as a message can hold it."
  (let ((text (substring-no-properties text)))
    (if (string-match-p outrigger-text--foreign text)
        (replace-regexp-in-string outrigger-text--foreign "\uFFFD" text)
      text)))

(defun outrigger-text-all ()
  "Return the whole text of this buffer as it is, narrowed or not."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun outrigger-text-of-buffer (&optional start end)
  "Return the text from START to END, or all of it, as a message can hold it."
  (save-restriction
    (widen)
    (outrigger-text-clean (buffer-substring (or start (point-min)) (or end (point-max))))))

;;; How a text is written

(defun outrigger-text-mark (text)
  "Return the byte order mark of TEXT, or nil."
  (and (string-prefix-p "\uFEFF" text) "\uFEFF"))

(defun outrigger-text-line-end (text)
  "Return what ends each line of TEXT; a mixture is left as it is."
  (if (and (string-search "\n" text) (not (string-match-p "\\(?:\\`\\|[^\r]\\)\n" text)))
      "\r\n"
    "\n"))

(defun outrigger-text-decode (text mark line-end)
  "Return TEXT without MARK, and with line feeds in the place of LINE-END."
  (string-replace line-end "\n" (string-remove-prefix (or mark "") text)))

(defun outrigger-text-encode (text mark line-end)
  "Return TEXT with MARK, and with LINE-END in the place of line feeds."
  (concat mark (string-replace "\n" line-end text)))

(defun outrigger-text-same-p (one other)
  "Return non-nil if ONE and OTHER differ in line ends and byte order mark at most."
  (cl-flet ((plain (text)
              (outrigger-text-decode text (outrigger-text-mark text) "\r\n")))
    (equal (plain one) (plain other))))

(provide 'outrigger-text)
;;; outrigger-text.el ends here
