;;; outrigger-chat-transcript.el --- What was said and done, as text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A transcript is a buffer with a head, a block for each entry of a
;; conversation, and a tail.  What is new is put where it belongs and nothing
;; else is touched: a long conversation costs no more than a short one, and
;; nobody who reads is disturbed.  Nothing else writes to such a buffer, so
;; that lengths are enough to find a block.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'outrigger-chat-entries)

(defvar-local outrigger-chat-transcript--blocks nil
  "The blocks of this buffer, newest first: each (ID LENGTH SPEAKER).")
(defvar-local outrigger-chat-transcript--head 0 "How long the text above all blocks is.")
(defvar-local outrigger-chat-transcript--tail 0 "How long the text below them is.")

;;; The buffer

(defun outrigger-chat-transcript-begin ()
  "Make this empty buffer a transcript."
  (add-to-invisibility-spec '(outrigger-body . t))
  (setq-local word-wrap t
              scroll-conservatively 101)
  (buffer-disable-undo))

(defmacro outrigger-chat-transcript--change (&rest body)
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

(defun outrigger-chat-transcript--replace (start length text)
  "Put TEXT in the place of LENGTH characters from START on.
What is the same at their beginning is left alone."
  (let* ((before (buffer-substring-no-properties start (+ start length)))
         (differs (compare-strings before nil nil text nil nil)))
    (unless (eq differs t)
      (let ((same (1- (abs differs))))
        (goto-char (+ start same))
        (delete-region (point) (+ start length))
        (insert (substring text same))))))

(defun outrigger-chat-transcript--find (id)
  "Return the block of entry ID and where it begins, or nil.
The newest is found first."
  (let ((start (- (point-max) outrigger-chat-transcript--tail)))
    (seq-some (lambda (block)
                (setq start (- start (nth 1 block)))
                (and (eql id (car block)) (cons block start)))
              outrigger-chat-transcript--blocks)))

(defun outrigger-chat-transcript-reset (entries)
  "Write all ENTRIES anew."
  (outrigger-chat-transcript--change
    (delete-region (+ (point-min) outrigger-chat-transcript--head) (point-max))
    (goto-char (point-max))
    (setq outrigger-chat-transcript--blocks nil
          outrigger-chat-transcript--tail 0)
    (seq-do (lambda (entry)
              (let ((text (outrigger-chat-entries-text entry)))
                (insert text)
                (push (list (plist-get entry :id) (length text) (plist-get entry :speaker))
                      outrigger-chat-transcript--blocks)))
            entries)))

(defun outrigger-chat-transcript-put (entry)
  "Take in ENTRY, which is new or another one now."
  (outrigger-chat-transcript--change
    (let ((found (outrigger-chat-transcript--find (plist-get entry :id)))
          (text (outrigger-chat-entries-text entry)))
      (if found
          (progn
            (outrigger-chat-transcript--replace (cdr found) (nth 1 (car found)) text)
            (setf (nth 1 (car found)) (length text)))
        (goto-char (- (point-max) outrigger-chat-transcript--tail))
        (insert text)
        (push (list (plist-get entry :id) (length text) (plist-get entry :speaker))
              outrigger-chat-transcript--blocks)))))

(defun outrigger-chat-transcript-append (id text)
  "Let entry ID go on with TEXT."
  (pcase (outrigger-chat-transcript--find id)
    (`(,block . ,start)
     (outrigger-chat-transcript--change
       ;; Before the empty line that ends the block.
       (goto-char (+ start (nth 1 block) -2))
       (let* ((thought (equal (nth 2 block) "thought"))
              (more (if thought
                        (propertize (outrigger-chat-entries-indent text) 'outrigger-body t
                                    'invisible (get-text-property (1- (point)) 'invisible))
                      (outrigger-chat-entries-visible text))))
         (insert more)
         (cl-incf (nth 1 block) (length more)))))))

(defun outrigger-chat-transcript-shorten (first)
  "Remove the entries with a smaller number than FIRST."
  (let ((gone (seq-filter (lambda (block) (< (car block) first)) outrigger-chat-transcript--blocks)))
    (outrigger-chat-transcript--change
      (let ((start (+ (point-min) outrigger-chat-transcript--head)))
        (delete-region start (+ start (seq-reduce #'+ (mapcar #'cadr gone) 0))))
      (setq outrigger-chat-transcript--blocks
            (seq-difference outrigger-chat-transcript--blocks gone #'eq)))))

(defun outrigger-chat-transcript-set-edges (head tail)
  "Let HEAD stand above all entries and TAIL below them."
  (outrigger-chat-transcript--change
    (outrigger-chat-transcript--replace (point-min) outrigger-chat-transcript--head head)
    (setq outrigger-chat-transcript--head (length head))
    (outrigger-chat-transcript--replace (- (point-max) outrigger-chat-transcript--tail)
                                   outrigger-chat-transcript--tail tail)
    (setq outrigger-chat-transcript--tail (length tail))))

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

(provide 'outrigger-chat-transcript)
;;; outrigger-chat-transcript.el ends here
