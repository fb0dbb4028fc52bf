;;; outrigger-diff.el --- A proposal as a unified diff  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A unified diff, which is shown beside what the person is doing.  Its hunks
;; are the companion's, and have the numbers that they have on the page.  It
;; follows an edit as soon as the companion has compared the text.

;;; Code:

(require 'diff-mode)
(require 'outrigger-review)

(declare-function outrigger-diff-ediff "outrigger-ediff")

(defvar outrigger-diff-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap outrigger-review-decide-map diff-mode-shared-map))
    (define-key map (kbd "RET") #'outrigger-diff-edit)
    (define-key map "e" #'outrigger-diff-edit)
    (define-key map "k" #'outrigger-diff-drop-hunk)
    (define-key map "E" #'outrigger-diff-in-ediff)
    (define-key map "g" #'revert-buffer)
    (define-key map "q" #'quit-window)
    map)
  "Keymap of `outrigger-diff-mode'.")

(define-derived-mode outrigger-diff-mode diff-mode "Proposal"
  "Mode of a buffer that shows what an agent wants to change.

\\{outrigger-diff-mode-map}"
  (setq-local revert-buffer-function (lambda (&rest _) (outrigger-diff--refresh)))
  ;; In a buffer that is read-only the keys of `diff-mode' go before those of this mode.
  (setq-local minor-mode-overriding-map-alist nil)
  (setq header-line-format '(:eval (outrigger-diff--header)))
  (setq buffer-read-only t))

(defun outrigger-diff-unified (review select)
  "Show REVIEW as a unified diff, and go there if SELECT is non-nil."
  (let ((view (outrigger-review-buffer
               review #'outrigger-review-view "proposal"
               (lambda ()
                 (setf (outrigger-review-view review) (current-buffer))
                 (outrigger-diff-mode)))))
    (with-current-buffer view
      (outrigger-diff--refresh))
    (outrigger-review-pop view select)))

(defun outrigger-diff--compared (review)
  "Show the hunks of REVIEW as they are now, if its diff is shown."
  (let ((view (outrigger-review-view review)))
    (when (buffer-live-p view)
      (with-current-buffer view
        (outrigger-diff--refresh)))))

(add-hook 'outrigger-review-compared-functions #'outrigger-diff--compared)

(defun outrigger-diff--header ()
  "Return the line above a unified diff."
  (outrigger-text-bar
   (concat " " (outrigger-review-describe outrigger-review-current)
           (when-let ((doubts (outrigger-review-doubts outrigger-review-current)))
             (concat ": " doubts))
           (substitute-command-keys
            ".  \\<outrigger-diff-mode-map>\\[outrigger-accept] accepts, \
\\[outrigger-reject] rejects")
           (unless (outrigger-review-fixed outrigger-review-current)
             (substitute-command-keys
              "\\<outrigger-diff-mode-map>, \\[outrigger-diff-drop-hunk] drops a hunk, \
\\[outrigger-diff-edit] edits")))))

(defun outrigger-diff--refresh ()
  "Show the difference in this buffer as it is now."
  (let* ((review outrigger-review-current)
         (name (outrigger-review-relative-name review))
         (line (line-number-at-pos))
         (inhibit-read-only t)
         ;; `diff-mode' would take it for an edit of the hunks, and mend their headers.
         (inhibit-modification-hooks t))
    (erase-buffer)
    (pcase-let ((`(,old ,new ,hunks) (outrigger-review-difference review)))
      (if (null hunks)
          (insert "Nothing is left of this proposal.\n")
        (insert "--- " name "\n+++ " name " (proposed)\n")
        (outrigger-hunks-insert hunks old new (length (outrigger-review-hunks review)))))
    (goto-char (point-min))
    (if (= line 1)
        (ignore-errors (diff-hunk-next))
      (forward-line (1- line)))
    (dolist (window (get-buffer-window-list nil nil t))
      (set-window-point window (point)))
    (set-buffer-modified-p nil)))

(defun outrigger-diff--hunk ()
  "Return the hunk at point."
  (or (get-text-property (point) 'outrigger-hunk)
      (user-error "There is no hunk here")))

(defun outrigger-diff-drop-hunk ()
  "Take the hunk at point out of the proposal."
  (interactive nil outrigger-diff-mode)
  (let ((review outrigger-review-current)
        (hunk (outrigger-diff--hunk)))
    (outrigger-review-check-editable review)
    (outrigger-review-drop review hunk)
    (message "Dropped %s; %s accepts what is left"
             (outrigger-hunks-name hunk (length (outrigger-review-hunks review)))
             (substitute-command-keys "\\<outrigger-diff-mode-map>\\[outrigger-accept]"))))

(defun outrigger-diff-edit ()
  "Go to the proposed text, to the line that point is on."
  (interactive nil outrigger-diff-mode)
  (let ((proposed (outrigger-review-proposed outrigger-review-current))
        (line (ignore-errors (outrigger-diff--line))))
    (outrigger-review-pop proposed t)
    (when line
      (goto-char (point-min))
      (forward-line line))))

(defun outrigger-diff--line ()
  "Return the line of the proposed text that point is on, counted from zero."
  (save-excursion
    (let ((end (line-beginning-position)))
      (diff-beginning-of-hunk)
      (looking-at diff-hunk-header-re-unified)
      (let ((start (string-to-number (match-string 3)))
            (count (string-to-number (or (match-string 4) "1"))))
        (forward-line)
        (+ (if (zerop count) start (1- start))
           (if (< (point) end) (how-many "^[^-\\\\]" (point) end) 0))))))

(defun outrigger-diff-in-ediff ()
  "Show the proposal of this buffer in Ediff."
  (interactive nil outrigger-diff-mode)
  (outrigger-diff-ediff outrigger-review-current t))

(provide 'outrigger-diff)
;;; outrigger-diff.el ends here
