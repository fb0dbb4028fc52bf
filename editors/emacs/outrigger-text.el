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

;;; Texts of others

(defconst outrigger-text--steering
  (concat "[\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
          "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]")
  "Matches what would steer the screen instead of being seen.
The program has the same list.  Joiners are not in it: scripts and
emoji need them.")

(defun outrigger-text-visible (text)
  "Return TEXT, which somebody else wrote, with everything in it to be seen.
Emacs shows the older control characters by itself."
  (replace-regexp-in-string
   outrigger-text--steering (lambda (it) (format "<U+%04X>" (aref it 0))) text t t))

(defun outrigger-text-line (text)
  "Return TEXT, which somebody else wrote, in one line that steers nothing.
This is for names and paths in messages, in the lines around windows
and in names of buffers."
  (outrigger-text-visible
   ;; The pictures of these characters are in the same order as the characters.
   (replace-regexp-in-string
    "[\x00-\x1f]" (lambda (it) (string (+ #x2400 (aref it 0)))) text t t)))

(defun outrigger-text-bar (text)
  "Return TEXT, which somebody else wrote, for a mode line or a header line.
There, a percent sign would be an instruction."
  (string-replace "%" "%%" (outrigger-text-line text)))

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
