;;; outrigger-chat-entries.el --- What was said and done, as text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Each entry of a conversation as a block of text.  All texts are somebody
;; else's.  They are shown, and never obeyed.

;;; Code:

(require 'subr-x)

(defconst outrigger-chat-entries--speakers
  '(("me" . "You") ("other" . "You, elsewhere") ("agent" . "Agent"))
  "Who speaks, as a heading.")

(defconst outrigger-chat-entries--ends
  '(("complete" . "the turn is over") ("cancelled" . "the turn was cancelled")
    ("failed" . "the turn failed") ("unknown" . "nobody can tell how the turn ended"))
  "How a turn ended, for people.")

(defconst outrigger-chat-entries--commands-to-the-screen
  "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
  "Characters that would change the order in which others are shown.")

(defun outrigger-chat-entries-visible (text)
  "Return TEXT with everything in it to be seen.
Emacs shows other control characters by itself."
  (replace-regexp-in-string
   outrigger-chat-entries--commands-to-the-screen
   (lambda (it) (format "<U+%04X>" (aref it 0)))
   (string-replace "\r\n" "\n" text) t t))

(defun outrigger-chat-entries-line (text)
  "Return TEXT in one line, with everything in it to be seen."
  (outrigger-chat-entries-visible (replace-regexp-in-string "[ \t]*[\r\n]+[ \t]*" " " text)))

(defun outrigger-chat-entries-indent (text)
  "Return TEXT with each of its lines but the first indented."
  (string-replace "\n" "\n  " (outrigger-chat-entries-visible text)))

(defun outrigger-chat-entries--heading (text)
  "Return TEXT as the heading of a block."
  (propertize text 'face 'bold))

(defun outrigger-chat-entries--folded (heading lines)
  "Return a block with HEADING whose LINES are hidden until they are asked for."
  (concat (outrigger-chat-entries--heading (concat "▸ " heading))
          (mapconcat (lambda (text)
                       (propertize (concat "\n  " (outrigger-chat-entries-indent text))
                                   'outrigger-body t 'invisible 'outrigger-body))
                     lines "")))

(defun outrigger-chat-entries-text (entry)
  "Return ENTRY as a block."
  (concat
   (pcase (plist-get entry :kind)
     ("said" (outrigger-chat-entries--said (plist-get entry :speaker) (plist-get entry :text)))
     ("tool" (outrigger-chat-entries--tool (plist-get entry :tool)))
     ("plan" (concat
              (outrigger-chat-entries--heading "Plan") "\n"
              (mapconcat (lambda (step)
                           (format "- [%s] %s"
                                   (if (equal (plist-get step :status) "completed") "x" " ")
                                   (outrigger-chat-entries-visible (plist-get step :text))))
                         (plist-get entry :steps) "\n")))
     ("ended" (format "-- %s%s --"
                      (let ((how (plist-get entry :how)))
                        (or (cdr (assoc how outrigger-chat-entries--ends)) how))
                      (if-let ((why (plist-get entry :why)))
                          (concat ": " (outrigger-chat-entries-visible why))
                        "")))
     (_ (format "-- %s --" (outrigger-chat-entries-visible (plist-get entry :text)))))
   "\n\n"))

(defun outrigger-chat-entries--said (speaker text)
  "Return the block of TEXT that SPEAKER said."
  (if (equal speaker "thought")
      (outrigger-chat-entries--folded "Thinking" (list text))
    (concat (outrigger-chat-entries--heading
             (or (cdr (assoc speaker outrigger-chat-entries--speakers)) speaker))
            "\n" (outrigger-chat-entries-visible text))))

(defun outrigger-chat-entries--subject (tool title)
  "Return what TOOL is used on, if its TITLE does not say so: a command or a file."
  (let* ((file (car (append (plist-get tool :files) nil)))
         (on (or (plist-get tool :command)
                 (and file (file-name-nondirectory (plist-get file :daemonPath))))))
    (if (and on (not (string-search on title)))
        (concat " " (truncate-string-to-width (outrigger-chat-entries-line on) 40 nil nil "…"))
      "")))

(defun outrigger-chat-entries--tool (tool)
  "Return the block of TOOL: what it is for, how far it is, and its output."
  (outrigger-chat-entries--folded
   (let ((title (outrigger-chat-entries-line (or (plist-get tool :title) (plist-get tool :tool)
                                               (plist-get tool :id)))))
     (format "%s%s: %s" title (outrigger-chat-entries--subject tool title)
             (string-replace "_" " " (or (plist-get tool :status) "pending"))))
   (append (when-let ((command (plist-get tool :command)))
             (list (concat "$ " command)))
           (mapcar (lambda (shown)
                     (if (equal (plist-get shown :type) "text")
                         (plist-get shown :text)
                       (concat "edits " (plist-get (plist-get shown :path) :daemonPath))))
                   (plist-get tool :content)))))

(provide 'outrigger-chat-entries)
;;; outrigger-chat-entries.el ends here
