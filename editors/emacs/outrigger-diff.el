;;; outrigger-diff.el --- Two ways to look at a proposal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A unified diff, which is shown beside what the person is doing, and Ediff,
;; which takes the whole frame.  What differs is found by the diff program.

;;; Code:

(require 'diff)
(require 'diff-mode)
(require 'ediff)
(require 'outrigger-review)

(defvar ediff-quit-hook)
(defvar ediff-window-setup-function)
(defvar ediff-keep-variants)

(defcustom outrigger-diff-function #'outrigger-diff-unified
  "Function that shows a proposal.
It is called with a review and with whether to select its window.
`outrigger-diff-unified' shows a diff beside what the person is
doing.  `outrigger-diff-ediff' starts an Ediff session, which takes
the whole frame, so it waits to be asked for while the person is in
a terminal or in the minibuffer.  A function of your own finds the
two texts with `outrigger-review-original' and
`outrigger-review-proposed'."
  :type '(choice (function-item outrigger-diff-unified)
                 (function-item outrigger-diff-ediff)
                 function)
  :group 'outrigger)

;;; The unified view

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

(defun outrigger-diff--edited (review)
  "Show REVIEW as the person has it now, if its diff is shown."
  (let ((view (outrigger-review-view review)))
    (when (buffer-live-p view)
      (with-current-buffer view
        (outrigger-diff--refresh)))))

(add-hook 'outrigger-review-edited-functions #'outrigger-diff--edited)

(defun outrigger-diff--header ()
  "Return the line above a unified diff."
  (concat " " (outrigger-review-describe outrigger-review-current)
          (substitute-command-keys
           ".  \\<outrigger-diff-mode-map>\\[outrigger-accept] accepts, \
\\[outrigger-reject] rejects")
          (unless (outrigger-review-fixed outrigger-review-current)
            (substitute-command-keys
             "\\<outrigger-diff-mode-map>, \\[outrigger-diff-drop-hunk] drops a hunk, \
\\[outrigger-diff-edit] edits"))))

(defun outrigger-diff--refresh ()
  "Show the difference in this buffer as it is now."
  (let* ((review outrigger-review-current)
         (original (outrigger-review-original review))
         (proposed (outrigger-review-proposed review))
         (name (file-relative-name (outrigger-review-path review)))
         (line (line-number-at-pos))
         (inhibit-read-only t)
         ;; `diff-mode' would take it for an edit of the hunks, and mend their headers.
         (inhibit-modification-hooks t))
    (erase-buffer)
    (outrigger-diff--insert original proposed name)
    (when (zerop (buffer-size))
      (insert "Nothing is left of this proposal.\n"))
    (goto-char (point-min))
    (if (= line 1)
        (ignore-errors (diff-hunk-next))
      (forward-line (1- line)))
    (dolist (window (get-buffer-window-list nil nil t))
      (set-window-point window (point)))
    (set-buffer-modified-p nil)))

(defun outrigger-diff--insert (original proposed name)
  "Insert how ORIGINAL differs from PROPOSED, both buffers of the file NAME."
  (let ((file (make-temp-file "outrigger"))
        (view (current-buffer))
        (coding-system-for-write 'utf-8-unix)
        (coding-system-for-read 'utf-8-unix))
    (unwind-protect
        (progn
          (with-current-buffer original
            (write-region nil nil file nil 'silent))
          (with-current-buffer proposed
            (save-restriction
              (widen)
              (call-process-region nil nil diff-command nil view nil "-U2"
                                   "--label" name "--label" (concat name " (proposed)")
                                   file "-"))))
      (delete-file file))))

(defun outrigger-diff--hunk ()
  "Return where the hunk at point begins, and its lines before and after.
The value is a list (BEGINNING START COUNT START COUNT)."
  (save-excursion
    (goto-char (car (diff-bounds-of-hunk)))
    (unless (looking-at diff-hunk-header-re-unified)
      (user-error "There is no hunk here"))
    (let ((number (lambda (group)
                    (if (match-string group) (string-to-number (match-string group)) 1))))
      (list (point) (funcall number 1) (funcall number 2) (funcall number 3) (funcall number 4)))))

(defun outrigger-diff--lines (start count)
  "Return the beginning and end of COUNT lines of this buffer from line START."
  (save-excursion
    (goto-char (point-min))
    ;; Of no lines the number is that of the line before them.
    (forward-line (if (zerop count) start (1- start)))
    (cons (point) (progn (forward-line count) (point)))))

(defun outrigger-diff-drop-hunk ()
  "Take the hunk at point out of the proposal."
  (interactive nil outrigger-diff-mode)
  (let ((review outrigger-review-current))
    (outrigger-review-check-editable review)
    (pcase-let ((`(,_ ,before ,before-count ,after ,after-count) (outrigger-diff--hunk)))
      (let ((text (with-current-buffer (outrigger-review-original review)
                    (pcase-let ((`(,start . ,end) (outrigger-diff--lines before before-count)))
                      (buffer-substring-no-properties start end)))))
        (with-current-buffer (outrigger-review-proposed review)
          (save-restriction
            (widen)
            (save-excursion
              (pcase-let ((`(,start . ,end) (outrigger-diff--lines after after-count)))
                (goto-char start)
                (delete-region start end)
                (insert text)))))))
    (outrigger-review-follow review)
    (message "%s" (substitute-command-keys
                   "\\<outrigger-diff-mode-map>Dropped; \\[outrigger-accept] accepts what is left"))))

(defun outrigger-diff-edit ()
  "Go to the proposed text, to the line that point is on."
  (interactive nil outrigger-diff-mode)
  (let* ((proposed (outrigger-review-proposed outrigger-review-current))
         (line (ignore-errors
                 (pcase-let ((`(,beginning ,_ ,_ ,after ,_) (outrigger-diff--hunk)))
                   (+ after (max 0 (1- (how-many "^[^-\\]" beginning (line-beginning-position)))))))))
    (outrigger-review-pop proposed t)
    (when line
      (goto-char (point-min))
      (forward-line (1- line)))))

(defun outrigger-diff-in-ediff ()
  "Show the proposal of this buffer in Ediff."
  (interactive nil outrigger-diff-mode)
  (outrigger-diff-ediff outrigger-review-current t))

;;; The Ediff view

(defun outrigger-diff-ediff (review select)
  "Show REVIEW in Ediff, in this frame.
Ediff takes the whole frame.  Unless SELECT is non-nil it waits to
be asked for while the person is in a terminal or the minibuffer,
and otherwise until they have stopped typing."
  (cond (select (outrigger-diff--start-ediff review))
        ((outrigger-review-busy-p)
         (message "%s; %s shows it" (outrigger-review-describe review)
                  (substitute-command-keys "\\[outrigger-show]")))
        (t (run-with-idle-timer
            1 nil
            (lambda ()
              (when (and (memq review outrigger-reviews) (not (outrigger-review-busy-p)))
                (outrigger-diff--start-ediff review)))))))

(defun outrigger-diff--start-ediff (review)
  "Start an Ediff session for REVIEW, or go to the one there is."
  (let ((control (outrigger-review-control review))
        (view (outrigger-review-view review)))
    (if (buffer-live-p control)
        (with-current-buffer control
          (ediff-recenter))
      (when (buffer-live-p view)
        (outrigger-review-hide view))
      (setf (outrigger-review-windows review) (current-window-configuration))
      (let ((ediff-window-setup-function #'ediff-setup-windows-plain))
        (ediff-buffers (outrigger-review-original review) (outrigger-review-proposed review)
                       (list (lambda () (outrigger-diff--adopt-ediff review))))))))

(defun outrigger-diff--adopt-ediff (review)
  "Make this Ediff control panel part of REVIEW."
  (setf (outrigger-review-control review) (current-buffer))
  (setq outrigger-review-current review)
  (setq-local ediff-window-setup-function #'ediff-setup-windows-plain)
  (add-hook 'ediff-quit-hook #'outrigger-diff--ediff-ended 90 t)
  (local-set-key (kbd "C-c C-c") #'outrigger-accept)
  (local-set-key (kbd "C-c C-k") #'outrigger-reject))

(defun outrigger-diff--ediff-ended ()
  "Give the windows back that the Ediff session of this panel took."
  (let* ((review outrigger-review-current)
         (windows (outrigger-review-windows review)))
    (setf (outrigger-review-control review) nil
          (outrigger-review-windows review) nil)
    (when windows
      (set-window-configuration windows))
    (when (memq review outrigger-reviews)
      (message "Undecided; %s shows it again" (substitute-command-keys "\\[outrigger-show]")))))

(defun outrigger-diff--quit-ediff (review)
  "End the Ediff session of REVIEW, if there is one."
  (let ((control (outrigger-review-control review)))
    (when (buffer-live-p control)
      ;; The person may have gone on to something else, and keeps those windows.
      (unless (get-buffer-window control t)
        (setf (outrigger-review-windows review) nil))
      (with-current-buffer control
        (let ((ediff-keep-variants t))
          (ediff-really-quit nil))))))

(add-hook 'outrigger-review-ending-functions #'outrigger-diff--quit-ediff)

(provide 'outrigger-diff)
;;; outrigger-diff.el ends here
