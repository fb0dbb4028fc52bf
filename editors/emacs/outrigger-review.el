;;; outrigger-review.el --- One proposal, as the person sees it  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A review is a proposal as the person sees it: the text as it is, the text as
;; it would be, which can be edited, and a view of the difference, which
;; `outrigger-diff-function' makes.  It knows nothing of verdicts;
;; outrigger-proposals.el does.

;;; Code:

(require 'outrigger-companion)
(require 'outrigger-config)
(require 'outrigger-hunks)
(require 'outrigger-text)

(defconst outrigger-review--rest 0.3
  "How long in seconds edits of a proposal are gathered before they are shown.")

(cl-defstruct (outrigger-review
               (:constructor outrigger-review--make)
               (:copier nil))
  "A proposal as the person sees it.
BEFORE and AFTER are its texts as they came, and TOLD is what the
companion takes AFTER to be by now, or nil if that is not known.
HUNKS are those of the agent's text, and DRAFT is the newest text
that the companion has compared and its hunks, (TEXT . HUNKS).
FIXED says that the agent takes AFTER as it is or not at all.  MARK
and LINE-END are what AFTER has of a byte order mark and of carriage
returns that its buffer has not.  STAMP is when the file was last
written before.  DECIDED says that the person has decided here."
  companion id path agent session before after hunks draft told dirty fixed mark (line-end "\n")
  stamp decided original-buffer proposed-buffer view control windows timer)

(defvar outrigger-review-edited-functions nil
  "Functions called with a review whose proposed text the person has changed.")

(defvar outrigger-review-compared-functions nil
  "Functions called with a review whose hunks are others now.")

(defvar outrigger-review-ending-functions nil
  "Functions called with a review whose buffers are about to go.")

(defvar-local outrigger-review-current nil
  "The review that this buffer is part of.")
(put 'outrigger-review-current 'permanent-local t)

(defun outrigger-review-read (companion params)
  "Return a review of the proposal that PARAMS of COMPANION describe."
  (let* ((before (plist-get params :original))
         (after (plist-get params :proposed))
         (path (plist-get params :path))
         (review (outrigger-review--make
                  :companion companion :id (plist-get params :id) :path path
                  :agent (plist-get params :agent) :session (plist-get params :session)
                  :before before :after after :told after
                  :hunks (outrigger-hunks-read (plist-get params :hunks))
                  :dirty (eq (plist-get params :dirty) t)
                  :fixed (eq (plist-get params :editable) :json-false)
                  :stamp (outrigger-review--stamp path))))
    (outrigger-review-compared review after (or (plist-get params :draftHunks)
                                                (plist-get params :hunks)))
    ;; Where the two differ in this the person has to see it.
    (when (or (null before) (equal (outrigger-text-mark before) (outrigger-text-mark after)))
      (setf (outrigger-review-mark review) (outrigger-text-mark after)))
    (when (or (null before)
              (equal (outrigger-text-line-end before) (outrigger-text-line-end after)))
      (setf (outrigger-review-line-end review) (outrigger-text-line-end after)))
    review))

(defun outrigger-review--stamp (path)
  "Return when the file at PATH was last written, or nil if there is none."
  (file-attribute-modification-time (file-attributes path)))

(defun outrigger-review-stale-p (review)
  "Return non-nil if the file of REVIEW was written since it came."
  (not (equal (outrigger-review-stamp review)
              (outrigger-review--stamp (outrigger-review-path review)))))

(defun outrigger-review-name (review)
  "Return the name of the file of REVIEW."
  (file-name-nondirectory (outrigger-review-path review)))

(defun outrigger-review-describe (review)
  "Return a sentence about REVIEW."
  (format "%s proposes %s %s%s"
          (outrigger-review-agent review)
          (if (outrigger-review-before review) "a change to" "the new file")
          (file-relative-name (outrigger-review-path review)
                              (outrigger-companion-root (outrigger-review-companion review)))
          (if (outrigger-review-dirty review)
              ", and has not read your unsaved changes there"
            "")))

(defun outrigger-review-check-editable (review)
  "Signal an error if the text of REVIEW can only be taken as it is."
  (when (outrigger-review-fixed review)
    (user-error "%s takes its own text or none: accept it as it is, or reject it"
                (outrigger-review-agent review))))

;;; Texts

(defun outrigger-review--decode (review text)
  "Return TEXT of REVIEW as it stands in a buffer."
  (outrigger-text-decode text (outrigger-review-mark review) (outrigger-review-line-end review)))

(defun outrigger-review-text (review)
  "Return the text that the person has made of REVIEW so far."
  (let ((buffer (outrigger-review-proposed-buffer review)))
    (if (buffer-live-p buffer)
        (outrigger-text-encode (with-current-buffer buffer (outrigger-text-all))
                               (outrigger-review-mark review)
                               (outrigger-review-line-end review))
      (outrigger-review-told review))))

(defun outrigger-review--before (review)
  "Return the text that the agent has read, as it stands in a buffer.
If the agent of REVIEW has turned carriage returns into line feeds
everywhere, that is no difference, neither here nor to the companion."
  (let ((before (or (outrigger-review-before review) "")))
    (outrigger-text-decode before (outrigger-review-mark review)
                           (if (equal (outrigger-text-line-end (outrigger-review-after review)) "\n")
                               (outrigger-text-line-end before)
                             (outrigger-review-line-end review)))))

(defun outrigger-review--unsaved (review)
  "Return the buffer with the unsaved file of REVIEW, or nil."
  (and (outrigger-review-dirty review)
       (find-buffer-visiting (outrigger-review-path review))))

(defun outrigger-review-original (review)
  "Return the buffer with the text that REVIEW would change.
If the file is open with unsaved changes, it has those too."
  (outrigger-review-buffer
   review #'outrigger-review-original-buffer "original"
   (lambda ()
     (setf (outrigger-review-original-buffer review) (current-buffer))
     (insert (if-let ((unsaved (outrigger-review--unsaved review)))
                 (with-current-buffer unsaved (outrigger-text-all))
               (outrigger-review--before review)))
     (outrigger-review--set-mode review)
     (setq buffer-read-only t))))

(defun outrigger-review-proposed (review)
  "Return the buffer with the text that REVIEW proposes, for the person to edit.
It is read-only if the agent takes no other text."
  (outrigger-review-buffer
   review #'outrigger-review-proposed-buffer "proposed"
   (lambda ()
     (setf (outrigger-review-proposed-buffer review) (current-buffer))
     (insert (outrigger-review--decode review (or (outrigger-review-told review)
                                                  (car (outrigger-review-draft review)))))
     (outrigger-review--set-mode review)
     (setq buffer-undo-list nil)
     (add-hook 'after-change-functions #'outrigger-review--edited nil t)
     (outrigger-proposal-mode 1)
     (setq buffer-read-only (outrigger-review-fixed review)))))

(defun outrigger-review-buffer (review slot what fill)
  "Return the buffer of REVIEW in SLOT, or make one named after WHAT with FILL."
  (let ((buffer (funcall slot review)))
    (if (buffer-live-p buffer)
        buffer
      (with-current-buffer (generate-new-buffer
                            (format "*%s %d: %s*" what (outrigger-review-id review)
                                    (outrigger-review-name review)))
        (setq default-directory (outrigger-companion-root (outrigger-review-companion review))
              buffer-file-coding-system 'utf-8-unix)
        (funcall fill)
        (goto-char (point-min))
        (set-buffer-modified-p nil)
        (setq outrigger-review-current review)
        (current-buffer)))))

(defun outrigger-review--set-mode (review)
  "Colour this buffer like the file of REVIEW.
The hooks of its mode do not run: they are for files, and would
start language servers and the like."
  (let ((buffer-file-name (outrigger-review-path review))
        (enable-local-variables nil)
        (inhibit-message t))
    (delay-mode-hooks
      (condition-case nil
          (set-auto-mode)
        (error (fundamental-mode)))))
  (font-lock-mode 1))

(defun outrigger-review--edited (&rest _)
  "Show soon what the person has made of the proposal in this buffer."
  (let ((review outrigger-review-current))
    (when (and review (not (outrigger-review-timer review)))
      (setf (outrigger-review-timer review)
            (run-with-timer outrigger-review--rest nil #'outrigger-review-follow review)))))

(defun outrigger-review-follow (review)
  "Tell the others what the person has made of REVIEW."
  (setf (outrigger-review-timer review) nil)
  (run-hook-with-args 'outrigger-review-edited-functions review))

;;; Hunks

(defun outrigger-review-compared (review text hunks)
  "Take HUNKS of a message for those between the original of REVIEW and TEXT."
  (setf (outrigger-review-draft review)
        (cons text (outrigger-hunks-number (outrigger-hunks-read hunks)
                                           (outrigger-review-hunks review))))
  (run-hook-with-args 'outrigger-review-compared-functions review))

(defun outrigger-review-difference (review)
  "Return the lines of both texts of REVIEW, and all hunks between them.
The value is a list (OLD NEW HUNKS).  The new text is the one that
the companion has compared last."
  (pcase-let* ((`(,text . ,hunks) (outrigger-review-draft review))
               (old (with-current-buffer (outrigger-review-original review)
                      (outrigger-hunks-lines (outrigger-text-all))))
               (new (outrigger-hunks-lines (outrigger-review--decode review text))))
    (list old new
          (if (outrigger-review--unsaved review)
              (outrigger-hunks-over
               hunks (outrigger-hunks-lines (outrigger-review--before review)) old new)
            hunks))))

(defun outrigger-review-drop (review hunk)
  "Take HUNK out of REVIEW: put the original lines in its place."
  (unless (equal (outrigger-review-text review) (car (outrigger-review-draft review)))
    (user-error "The companion has not yet compared what you have typed; try again"))
  (let ((lines (with-current-buffer (outrigger-review-original review)
                 (outrigger-hunks-lines (outrigger-text-all)))))
    (with-current-buffer (outrigger-review-proposed review)
      (save-excursion
        (save-restriction
          (widen)
          (goto-char (point-min))
          (forward-line (outrigger-hunk-new-start hunk))
          (delete-region (point)
                         (save-excursion
                           (forward-line (- (outrigger-hunk-new-end hunk)
                                            (outrigger-hunk-new-start hunk)))
                           (point)))
          (insert (string-join (seq-subseq lines (outrigger-hunk-old-start hunk)
                                           (outrigger-hunk-old-end hunk))))))))
  (outrigger-review-follow review))

;;; Showing and putting away

(defconst outrigger-review--action
  '((display-buffer-reuse-window
     display-buffer-pop-up-window
     display-buffer-use-some-window
     display-buffer-no-window)
    (inhibit-same-window . t)
    (allow-no-window . t))
  "Where the windows of a review go: beside the selected one, in no new frame.")

(defun outrigger-review-show (review select)
  "Show REVIEW, and go there if SELECT is non-nil."
  (funcall outrigger-diff-function review select))

(defun outrigger-review-pop (buffer select)
  "Show BUFFER beside the selected window, and go there if SELECT is non-nil."
  (let* ((pop-up-frames nil)
         (window (display-buffer buffer outrigger-review--action)))
    (cond ((not select))
          ((windowp window) (select-window window))
          (t (pop-to-buffer-same-window buffer)))))

(defun outrigger-review-close (review)
  "Remove all buffers and windows of REVIEW."
  (when-let ((timer (outrigger-review-timer review)))
    (cancel-timer timer))
  (run-hook-with-args 'outrigger-review-ending-functions review)
  (dolist (buffer (list (outrigger-review-view review)
                        (outrigger-review-proposed-buffer review)
                        (outrigger-review-original-buffer review)))
    (when (buffer-live-p buffer)
      (outrigger-review-hide buffer)
      (kill-buffer buffer))))

(defun outrigger-review-hide (buffer)
  "Give the windows back that BUFFER took."
  (dolist (window (get-buffer-window-list buffer 'no-minibuffer t))
    (when (window-live-p window)
      (quit-restore-window window 'bury))))

;;; The proposed text

(declare-function outrigger-accept "outrigger-proposals")
(declare-function outrigger-reject "outrigger-proposals")

(defvar outrigger-review-decide-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'outrigger-accept)
    (define-key map (kbd "C-c C-k") #'outrigger-reject)
    map)
  "Keys that decide a proposal.")

(defvar outrigger-proposal-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map outrigger-review-decide-map)
    (define-key map [remap save-buffer] #'outrigger-proposal-save)
    map)
  "Keymap of `outrigger-proposal-mode'.")

(define-minor-mode outrigger-proposal-mode
  "Mode of a buffer with the text that an agent proposes.
Edit it freely; \\[outrigger-accept] accepts what it says then.

\\{outrigger-proposal-mode-map}"
  :lighter " Proposed"
  :group 'outrigger
  (setq header-line-format
        (and outrigger-proposal-mode
             (substitute-command-keys
              " \\<outrigger-proposal-mode-map>Accept with `\\[outrigger-accept]', \
reject with `\\[outrigger-reject]'"))))

(defun outrigger-proposal-save ()
  "Say how to decide: there is no file to save."
  (interactive)
  (message "%s" (substitute-command-keys
                 "\\<outrigger-proposal-mode-map>The agent writes the file: \
`\\[outrigger-accept]' accepts, `\\[outrigger-reject]' rejects")))

(provide 'outrigger-review)
;;; outrigger-review.el ends here
