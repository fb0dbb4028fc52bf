;;; outrigger-chat-entries.el --- What was said and done, as text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Each entry of a conversation as a block of text.  All texts are somebody
;; else's.  They are shown, and never obeyed.

;;; Code:

(require 'outrigger-text)
(require 'subr-x)

(defconst outrigger-chat-entries--speakers
  '(("me" . "You") ("other" . "You, elsewhere") ("agent" . "Agent")
    ("task" . "Background task"))
  "Who speaks, as a heading.")

(defconst outrigger-chat-entries--ends
  '(("complete" . "the turn is over") ("cancelled" . "the turn was cancelled")
    ("failed" . "the turn failed") ("unknown" . "nobody can tell how the turn ended"))
  "How a turn ended, for people.")

(defun outrigger-chat-entries-visible (text)
  "Return TEXT, which may have several lines, with everything in it to be seen."
  (outrigger-text-visible (string-replace "\r\n" "\n" text)))

(defun outrigger-chat-entries-line (text)
  "Return TEXT in one line, with everything in it to be seen."
  (outrigger-text-line (replace-regexp-in-string "[ \t]*[\r\n]+[ \t]*" " " text)))

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
     ("attached"
      (concat (outrigger-chat-entries--heading
               (concat (outrigger-chat-entries--speaker (plist-get entry :speaker)) ", attached"))
              "\n" (outrigger-chat-entries-line (plist-get entry :text))))
     ("tool" (outrigger-chat-entries--tool (plist-get entry :tool)))
     ("plan" (concat
              (outrigger-chat-entries--heading "Plan") "\n"
              (mapconcat (lambda (step)
                           (format "- [%s] %s"
                                   (if (equal (plist-get step :status) "completed") "x" " ")
                                   (outrigger-chat-entries-line (plist-get step :text))))
                         (plist-get entry :steps) "\n")))
     ("ended" (format "-- %s%s --"
                      (let ((how (plist-get entry :how)))
                        (or (cdr (assoc how outrigger-chat-entries--ends)) how))
                      (if-let ((why (plist-get entry :why)))
                          (concat ": " (outrigger-chat-entries-line why))
                        "")))
     (kind (let ((text (plist-get entry :text)))
             (if (stringp text)
                 (format "-- %s --" (outrigger-chat-entries-line text))
               (outrigger-chat-entries--not-shown kind)))))
   "\n\n"))

(defun outrigger-chat-entries--not-shown (what)
  "Return that WHAT is missing, which has no text and is of a newer program."
  (format "-- something is not shown here, because this package does not know it: %s --"
          (outrigger-chat-entries-line what)))

(defun outrigger-chat-entries--speaker (speaker)
  "Return who SPEAKER is, for people."
  (or (cdr (assoc speaker outrigger-chat-entries--speakers))
      (outrigger-chat-entries-line speaker)))

(defun outrigger-chat-entries--said (speaker text)
  "Return the block of TEXT that SPEAKER said."
  (if (equal speaker "thought")
      (outrigger-chat-entries--folded "Thinking" (list text))
    (concat (outrigger-chat-entries--heading (outrigger-chat-entries--speaker speaker))
            "\n" (outrigger-chat-entries-visible text))))

(defun outrigger-chat-entries--subject (tool title)
  "Return what TOOL is used on, if its TITLE does not say so: a command or a file."
  (let* ((file (car (append (plist-get tool :files) nil)))
         (on (or (plist-get tool :command)
                 ;; It is a path of the daemon's machine; no handler of this one is to look at it.
                 (and file (let (file-name-handler-alist)
                             (file-name-nondirectory (plist-get file :daemonPath)))))))
    (if (and on (not (string-search on title)))
        (concat " " (truncate-string-to-width (outrigger-chat-entries-line on) 40 nil nil "…"))
      "")))

(defun outrigger-chat-entries--tool (tool)
  "Return the block of TOOL: what it is for, how far it is, and its output."
  (outrigger-chat-entries--folded
   (let ((title (outrigger-chat-entries-line (or (plist-get tool :title) (plist-get tool :tool)
                                               (plist-get tool :id)))))
     (format "%s%s: %s" title (outrigger-chat-entries--subject tool title)
             (string-replace "_" " " (outrigger-chat-entries-line
                                      (or (plist-get tool :status) "pending")))))
   (append (when-let ((command (plist-get tool :command)))
             (list (concat "$ " command)))
           (mapcar (lambda (shown)
                     (let ((type (plist-get shown :type))
                           (text (plist-get shown :text)))
                       (cond ((equal type "diff")
                              (concat "edits " (outrigger-chat-entries-line
                                                (plist-get (plist-get shown :path) :daemonPath))))
                             ((stringp text) text)
                             (t (outrigger-chat-entries--not-shown type)))))
                   (plist-get tool :content)))))

(provide 'outrigger-chat-entries)
;;; outrigger-chat-entries.el ends here
