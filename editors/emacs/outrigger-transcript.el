;;; outrigger-transcript.el --- What was said and done, as text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A transcript is a buffer with a head, a block for each entry of a
;; conversation, and a tail.  What is new is put where it belongs and nothing
;; else is touched: a long conversation costs no more than a short one, and
;; nobody who reads is disturbed.  Nothing else writes to such a buffer, so
;; that lengths are enough to find a block.
;;
;; All texts are somebody else's.  They are shown, and never obeyed.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)

(defconst outrigger-transcript--speakers
  '(("me" . "You") ("other" . "You, elsewhere") ("agent" . "Agent"))
  "Who speaks, as a heading.")

(defconst outrigger-transcript--ends
  '(("complete" . "the turn is over") ("cancelled" . "the turn was cancelled")
    ("failed" . "the turn failed") ("unknown" . "nobody can tell how the turn ended"))
  "How a turn ended, for people.")

(defconst outrigger-transcript--commands-to-the-screen
  "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
  "Characters that would change the order in which others are shown.")

(defvar-local outrigger-transcript--blocks nil
  "The blocks of this buffer, newest first: each (ID LENGTH SPEAKER).")
(defvar-local outrigger-transcript--head 0 "How long the text above all blocks is.")
(defvar-local outrigger-transcript--tail 0 "How long the text below them is.")

;;; Texts

(defun outrigger-transcript-visible (text)
  "Return TEXT with everything in it to be seen.
Emacs shows other control characters by itself."
  (replace-regexp-in-string
   outrigger-transcript--commands-to-the-screen
   (lambda (it) (format "<U+%04X>" (aref it 0)))
   (string-replace "\r\n" "\n" text) t t))

(defun outrigger-transcript-line (text)
  "Return TEXT in one line, with everything in it to be seen."
  (outrigger-transcript-visible (replace-regexp-in-string "[ \t]*[\r\n]+[ \t]*" " " text)))

(defun outrigger-transcript--indent (text)
  "Return TEXT with each of its lines but the first indented."
  (string-replace "\n" "\n  " (outrigger-transcript-visible text)))

(defun outrigger-transcript--heading (text)
  "Return TEXT as the heading of a block."
  (propertize text 'face 'bold))

(defun outrigger-transcript--folded (heading lines)
  "Return a block with HEADING whose LINES are hidden until they are asked for."
  (concat (outrigger-transcript--heading (concat "▸ " heading))
          (mapconcat (lambda (text)
                       (propertize (concat "\n  " (outrigger-transcript--indent text))
                                   'outrigger-body t 'invisible 'outrigger-body))
                     lines "")))

(defun outrigger-transcript--entry (entry)
  "Return ENTRY as a block."
  (concat
   (pcase (plist-get entry :kind)
     ("said" (outrigger-transcript--said (plist-get entry :speaker) (plist-get entry :text)))
     ("tool" (outrigger-transcript--tool (plist-get entry :tool)))
     ("plan" (concat
              (outrigger-transcript--heading "Plan") "\n"
              (mapconcat (lambda (step)
                           (format "- [%s] %s"
                                   (if (equal (plist-get step :status) "completed") "x" " ")
                                   (outrigger-transcript-visible (plist-get step :text))))
                         (plist-get entry :steps) "\n")))
     ("ended" (format "-- %s%s --"
                      (let ((how (plist-get entry :how)))
                        (or (cdr (assoc how outrigger-transcript--ends)) how))
                      (if-let ((why (plist-get entry :why)))
                          (concat ": " (outrigger-transcript-visible why))
                        "")))
     (_ (format "-- %s --" (outrigger-transcript-visible (plist-get entry :text)))))
   "\n\n"))

(defun outrigger-transcript--said (speaker text)
  "Return the block of TEXT that SPEAKER said."
  (if (equal speaker "thought")
      (outrigger-transcript--folded "Thinking" (list text))
    (concat (outrigger-transcript--heading
             (or (cdr (assoc speaker outrigger-transcript--speakers)) speaker))
            "\n" (outrigger-transcript-visible text))))

(defun outrigger-transcript--subject (tool title)
  "Return what TOOL is used on, if its TITLE does not say so: a command or a file."
  (let* ((file (car (append (plist-get tool :files) nil)))
         (on (or (plist-get tool :command)
                 (and file (file-name-nondirectory (plist-get file :daemonPath))))))
    (if (and on (not (string-search on title)))
        (concat " " (truncate-string-to-width (outrigger-transcript-line on) 40 nil nil "…"))
      "")))

(defun outrigger-transcript--tool (tool)
  "Return the block of TOOL: what it is for, how far it is, and its output."
  (outrigger-transcript--folded
   (let ((title (outrigger-transcript-line (or (plist-get tool :title) (plist-get tool :tool)
                                               (plist-get tool :id)))))
     (format "%s%s: %s" title (outrigger-transcript--subject tool title)
             (string-replace "_" " " (or (plist-get tool :status) "pending"))))
   (append (when-let ((command (plist-get tool :command)))
             (list (concat "$ " command)))
           (mapcar (lambda (shown)
                     (if (equal (plist-get shown :type) "text")
                         (plist-get shown :text)
                       (concat "edits " (plist-get (plist-get shown :path) :daemonPath))))
                   (plist-get tool :content)))))

;;; The buffer

(defun outrigger-transcript-begin ()
  "Make this empty buffer a transcript."
  (add-to-invisibility-spec '(outrigger-body . t))
  (setq-local word-wrap t
              scroll-conservatively 101)
  (buffer-disable-undo))

(defmacro outrigger-transcript--change (&rest body)
  "Run BODY to change this buffer; whoever is at its end stays there."
  (declare (indent 0) (debug t))
  `(let* ((end (point-max))
          (following (seq-filter (lambda (window) (= (window-point window) end))
                                 (get-buffer-window-list nil nil t)))
          (at-end (= (point) end))
          (inhibit-read-only t))
     (save-excursion ,@body)
     (when at-end
       (goto-char (point-max)))
     (dolist (window following)
       (set-window-point window (point-max)))))

(defun outrigger-transcript--replace (start length text)
  "Put TEXT in the place of LENGTH characters from START on.
What is the same at their beginning is left alone."
  (let* ((before (buffer-substring-no-properties start (+ start length)))
         (differs (compare-strings before nil nil text nil nil)))
    (unless (eq differs t)
      (let ((same (1- (abs differs))))
        (goto-char (+ start same))
        (delete-region (point) (+ start length))
        (insert (substring text same))))))

(defun outrigger-transcript--find (id)
  "Return the block of entry ID and where it begins, or nil.
The newest is found first."
  (let ((start (- (point-max) outrigger-transcript--tail)))
    (seq-some (lambda (block)
                (setq start (- start (nth 1 block)))
                (and (eql id (car block)) (cons block start)))
              outrigger-transcript--blocks)))

(defun outrigger-transcript-reset (entries)
  "Write all ENTRIES anew."
  (outrigger-transcript--change
    (delete-region (+ (point-min) outrigger-transcript--head) (point-max))
    (goto-char (point-max))
    (setq outrigger-transcript--blocks nil
          outrigger-transcript--tail 0)
    (seq-do (lambda (entry)
              (let ((text (outrigger-transcript--entry entry)))
                (insert text)
                (push (list (plist-get entry :id) (length text) (plist-get entry :speaker))
                      outrigger-transcript--blocks)))
            entries)))

(defun outrigger-transcript-put (entry)
  "Take in ENTRY, which is new or another one now."
  (outrigger-transcript--change
    (let ((found (outrigger-transcript--find (plist-get entry :id)))
          (text (outrigger-transcript--entry entry)))
      (if found
          (progn
            (outrigger-transcript--replace (cdr found) (nth 1 (car found)) text)
            (setf (nth 1 (car found)) (length text)))
        (goto-char (- (point-max) outrigger-transcript--tail))
        (insert text)
        (push (list (plist-get entry :id) (length text) (plist-get entry :speaker))
              outrigger-transcript--blocks)))))

(defun outrigger-transcript-append (id text)
  "Let entry ID go on with TEXT."
  (pcase (outrigger-transcript--find id)
    (`(,block . ,start)
     (outrigger-transcript--change
       ;; Before the empty line that ends the block.
       (goto-char (+ start (nth 1 block) -2))
       (let* ((thought (equal (nth 2 block) "thought"))
              (more (if thought
                        (propertize (outrigger-transcript--indent text) 'outrigger-body t
                                    'invisible (get-text-property (1- (point)) 'invisible))
                      (outrigger-transcript-visible text))))
         (insert more)
         (cl-incf (nth 1 block) (length more)))))))

(defun outrigger-transcript-shorten (first)
  "Remove the entries with a smaller number than FIRST."
  (let ((gone (seq-filter (lambda (block) (< (car block) first)) outrigger-transcript--blocks)))
    (outrigger-transcript--change
      (let ((start (+ (point-min) outrigger-transcript--head)))
        (delete-region start (+ start (seq-reduce #'+ (mapcar #'cadr gone) 0))))
      (setq outrigger-transcript--blocks
            (seq-difference outrigger-transcript--blocks gone #'eq)))))

(defun outrigger-transcript-surround (head tail)
  "Let HEAD stand above all entries and TAIL below them."
  (outrigger-transcript--change
    (outrigger-transcript--replace (point-min) outrigger-transcript--head head)
    (setq outrigger-transcript--head (length head))
    (outrigger-transcript--replace (- (point-max) outrigger-transcript--tail)
                                   outrigger-transcript--tail tail)
    (setq outrigger-transcript--tail (length tail))))

(defun outrigger-transcript-toggle ()
  "Show what is hidden at point, or hide it again."
  (interactive)
  (let* ((start (if (get-text-property (point) 'outrigger-body)
                    (previous-single-property-change (1+ (point)) 'outrigger-body)
                  (line-end-position)))
         (end (next-single-property-change start 'outrigger-body nil (point-max)))
         (inhibit-read-only t))
    (unless (get-text-property start 'outrigger-body)
      (user-error "There is nothing more to see here"))
    (put-text-property start end 'invisible
                       (unless (get-text-property start 'invisible) 'outrigger-body))))

(provide 'outrigger-transcript)
;;; outrigger-transcript.el ends here
