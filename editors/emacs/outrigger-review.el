;;; outrigger-review.el --- One proposal, as the person sees it  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A review is a proposal as the person sees it: the text as it is, the text as
;; it would be, which can be edited, and a view of the difference, which
;; `outrigger-diff-function' makes.  It knows nothing of verdicts;
;; outrigger-proposals.el does.

;;; Code:

(require 'smerge-mode)
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
REVISION counts how often the file has changed; STALE says so in
words, and CONFLICTS is how many places of AFTER both have changed.
ANSWERED is what the companion was told when it asked for the text,
and WARNED what the person was told of the file.  LOST says that the
companion was started again and does not know this revision.
WAITING is what the companion has sent for it and the person does
not see yet, and LOOKING the timer for that.
FIXED says that the agent takes AFTER as it is or not at all, and
WITHHELD, if that is because the file is kept from agents, why.  MARK
and LINE-END are what AFTER has of a byte order mark and of carriage
returns that its buffer has not.  DECIDED says that the person has
decided here."
  companion id path agent session before after hunks draft told dirty fixed mark (line-end "\n")
  (revision 1) stale withheld conflicts answered warned lost waiting looking
  decided original-buffer proposed-buffer view control windows timer)

(defvar outrigger-review-edited-functions nil
  "Functions called with a review whose proposed text the person has changed.")

(defvar outrigger-review-compared-functions nil
  "Functions called with a review whose hunks are others now.")

(defvar outrigger-review-revised-functions nil
  "Functions called with a review whose texts are others now.")

(defvar outrigger-review-ending-functions nil
  "Functions called with a review whose buffers are about to go.")

(defvar-local outrigger-review-current nil
  "The review that this buffer is part of.")
(put 'outrigger-review-current 'permanent-local t)

(defun outrigger-review-read (companion params)
  "Return a review of the proposal that PARAMS of COMPANION describe."
  (let ((review (outrigger-review--make
                 :companion companion :id (plist-get params :id)
                 :path (outrigger-review--local-name (plist-get params :path))
                 :agent (outrigger-text-line (or (plist-get params :who) (plist-get params :agent)))
                 :session (plist-get params :session))))
    (outrigger-review--take-texts review params)
    (outrigger-review-take-facts review params)
    review))

(defun outrigger-review--local-name (path)
  "Return a name that Emacs takes for PATH, a file of this machine.
To look at \"/ssh:host:/file\" would open a connection."
  (if (seq-some (lambda (operation) (find-file-name-handler path operation))
                ;; Each handler says which operations it is for.
                '(expand-file-name file-attributes file-remote-p))
      ;; Without the second argument it would ask Tramp, and quote what is behind the host only.
      (file-name-quote path t)
    path))

(defun outrigger-review-take-facts (review params)
  "Take over what PARAMS say of REVIEW beside its texts."
  (setf (outrigger-review-dirty review) (eq (plist-get params :dirty) t)
        (outrigger-review-fixed review) (eq (plist-get params :editable) :json-false)
        (outrigger-review-revision review) (plist-get params :revision)
        (outrigger-review-stale review) (when-let ((stale (plist-get params :stale)))
                                          (outrigger-text-line stale))
        (outrigger-review-withheld review) (when-let ((withheld (plist-get params :withheld)))
                                             (outrigger-text-line withheld))
        (outrigger-review-conflicts review) (plist-get params :conflicts)
        (outrigger-review-answered review) nil
        (outrigger-review-lost review) nil))

(defun outrigger-review--take-texts (review params)
  "Take over the texts in PARAMS, and where they differ, for REVIEW."
  (let ((before (plist-get params :original))
        (after (plist-get params :proposed)))
    (setf (outrigger-review-before review) before
          (outrigger-review-after review) after
          (outrigger-review-told review) after
          (outrigger-review-hunks review) (outrigger-hunks-read (plist-get params :hunks))
          ;; Where the two differ in this the person has to see it.
          (outrigger-review-mark review)
          (and (or (null before) (equal (outrigger-text-mark before) (outrigger-text-mark after)))
               (outrigger-text-mark after))
          (outrigger-review-line-end review)
          (if (or (null before)
                  (equal (outrigger-text-line-end before) (outrigger-text-line-end after)))
              (outrigger-text-line-end after)
            "\n"))
    (outrigger-review--set-draft review after (or (plist-get params :draftHunks)
                                                  (plist-get params :hunks)))))

(defun outrigger-review-name (review)
  "Return the name of the file of REVIEW, for people."
  (outrigger-text-line (file-name-nondirectory (outrigger-review-path review))))

(defun outrigger-review-relative-name (review)
  "Return the name of the file of REVIEW below its workspace, for people."
  (outrigger-text-line
   (file-relative-name (outrigger-review-path review)
                       (outrigger-companion-root (outrigger-review-companion review)))))

(defun outrigger-review-describe (review)
  "Return a sentence about REVIEW."
  (format "%s proposes %s %s%s"
          (outrigger-review-agent review)
          (if (outrigger-review-before review) "a change to" "the new file")
          (outrigger-review-relative-name review)
          (if (outrigger-review-dirty review) " with your unsaved changes" "")))

(defun outrigger-review-doubts (review)
  "Return what the person has to know before they decide REVIEW, or nil."
  (let ((conflicts (outrigger-review--count-conflicts review)))
    (cond ((> conflicts 0) (format "%d in conflict; %s" conflicts (outrigger-review-stale review)))
          (t (or (outrigger-review-stale review) (outrigger-review-withheld review))))))

(defconst outrigger-review--conflict "^<\\{7,\\} in the file now\r?$"
  "Matches the first line of a place that both have changed.")

(defun outrigger-review--count-conflicts (review)
  "Return how many places of REVIEW the person has to resolve."
  (let ((buffer (outrigger-review-proposed-buffer review)))
    (cond ((null (outrigger-review-conflicts review)) 0)
          ((buffer-live-p buffer)
           (with-current-buffer buffer
             (how-many outrigger-review--conflict (point-min) (point-max))))
          (t (outrigger-review-conflicts review)))))

(defun outrigger-review-check-editable (review)
  "Signal an error if the text of REVIEW can only be taken as it is."
  (when (outrigger-review-fixed review)
    (user-error "%s"
                (or (outrigger-review-withheld review)
                    (format "%s takes its own text or none: accept it as it is, or reject it"
                            (outrigger-review-agent review))))))

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
  "Return the text that would be changed, as it stands in a buffer.
If the agent of REVIEW has turned carriage returns into line feeds
everywhere, that is no difference, neither here nor to the companion."
  (let ((before (or (outrigger-review-before review) "")))
    (outrigger-text-decode before (outrigger-review-mark review)
                           (if (equal (outrigger-text-line-end (outrigger-review-after review)) "\n")
                               (outrigger-text-line-end before)
                             (outrigger-review-line-end review)))))

(defun outrigger-review-original (review)
  "Return the buffer with the text that REVIEW would change."
  (outrigger-review-buffer
   review #'outrigger-review-original-buffer "original"
   (lambda ()
     (setf (outrigger-review-original-buffer review) (current-buffer))
     (insert (outrigger-review--before review))
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
     (outrigger-review--mark-conflicts review)
     (setq buffer-read-only (outrigger-review-fixed review)))))

(defun outrigger-review--mark-conflicts (review)
  "Help the person with what is in conflict in REVIEW, in this buffer."
  (smerge-mode (if (outrigger-review-conflicts review) 1 -1)))

(defun outrigger-review-revise (review params)
  "Show the other texts that PARAMS have for REVIEW, in place."
  (outrigger-review--take-texts review params)
  (outrigger-review-take-facts review params)
  (outrigger-review--refill (outrigger-review-original-buffer review)
                            (outrigger-review--before review))
  (let ((proposed (outrigger-review-proposed-buffer review)))
    (outrigger-review--refill proposed
                              (outrigger-review--decode review (outrigger-review-after review)))
    (when (buffer-live-p proposed)
      (with-current-buffer proposed
        (outrigger-review--mark-conflicts review))))
  (run-hook-with-args 'outrigger-review-compared-functions review)
  (run-hook-with-args 'outrigger-review-revised-functions review))

(defun outrigger-review--refill (buffer text)
  "Make TEXT the text of BUFFER, if there is one.
Point stays at what it was at.  Undo does not go back to a text that
is not valid any more."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((inhibit-read-only t)
            (modified (buffer-modified-p))
            (source (generate-new-buffer " *outrigger text*" t)))
        (unwind-protect
            (progn
              (with-current-buffer source
                (insert text))
              (save-restriction
                (widen)
                (replace-buffer-contents source 0.5)))
          (kill-buffer source))
        (setq buffer-undo-list nil)
        (restore-buffer-modified-p modified)))))

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
        ;; Neither the text nor the folder sets variables here, now or when a mode is changed.
        (let ((enable-local-variables nil)
              (enable-dir-local-variables nil))
          (funcall fill))
        (setq-local enable-local-variables nil
                    enable-dir-local-variables nil)
        (goto-char (point-min))
        (set-buffer-modified-p nil)
        (setq outrigger-review-current review)
        (current-buffer)))))

(defconst outrigger-review--modes-of-files
  '(archive-mode doc-view-mode doc-view-mode-maybe image-mode tar-mode)
  "Modes that do more with a file than to show its text.")

(defun outrigger-review--set-mode (review)
  "Colour this buffer like the file of REVIEW.
The hooks of its mode do not run: they are for files, and would
start language servers and the like.  Nothing in the text sets a
variable or chooses the mode, and nothing in the name starts a viewer."
  (let ((buffer-file-name (outrigger-review-path review))
        (auto-mode-alist
         (seq-remove (lambda (entry)
                       (memq (if (consp (cdr entry)) (cadr entry) (cdr entry))
                             outrigger-review--modes-of-files))
                     auto-mode-alist))
        (magic-mode-alist nil)
        (magic-fallback-mode-alist nil)
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
  (outrigger-review--set-draft review text hunks)
  (run-hook-with-args 'outrigger-review-compared-functions review))

(defun outrigger-review--set-draft (review text hunks)
  "Remember HUNKS of a message between the original of REVIEW and TEXT."
  (setf (outrigger-review-draft review)
        (cons text (outrigger-hunks-number (outrigger-hunks-read hunks)
                                           (outrigger-review-hunks review)))))

(defun outrigger-review-difference (review)
  "Return the lines of both texts of REVIEW, and all hunks between them.
The value is a list (OLD NEW HUNKS).  The new text is the one that
the companion has compared last."
  (pcase-let* ((`(,text . ,hunks) (outrigger-review-draft review))
               (old (with-current-buffer (outrigger-review-original review)
                      (outrigger-hunks-lines (outrigger-text-all))))
               (new (outrigger-hunks-lines (outrigger-review--decode review text))))
    (list old new (outrigger-hunks-within hunks (length old) (length new)))))

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

(defun outrigger-review-shown-p (review)
  "Return non-nil if a part of REVIEW is on the screen."
  (seq-some (lambda (buffer) (and (buffer-live-p buffer) (get-buffer-window buffer t)))
            (list (outrigger-review-view review) (outrigger-review-proposed-buffer review))))

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
  (setq header-line-format (and outrigger-proposal-mode '(:eval (outrigger-proposal--header)))))

(defun outrigger-proposal--header ()
  "Return the line above a proposed text."
  (outrigger-text-bar
   (concat (substitute-command-keys
           " \\<outrigger-proposal-mode-map>Accept with `\\[outrigger-accept]', \
reject with `\\[outrigger-reject]'")
          (when-let ((doubts (outrigger-review-doubts outrigger-review-current)))
            (concat ".  " doubts)))))

(defun outrigger-proposal-save ()
  "Say how to decide: there is no file to save."
  (interactive)
  (message "%s" (substitute-command-keys
                 "\\<outrigger-proposal-mode-map>The agent writes the file: \
`\\[outrigger-accept]' accepts, `\\[outrigger-reject]' rejects")))

(provide 'outrigger-review)
;;; outrigger-review.el ends here
