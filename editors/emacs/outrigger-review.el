;;; outrigger-review.el --- What agents propose, as a diff to decide  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A review is a proposal as the person sees it: the text as it is, the text as
;; it would be, which can be edited, and a view of the difference, which
;; `outrigger-diff-function' makes.  The person accepts or rejects; the agent
;; writes the file.  Nothing here does.

;;; Code:

(require 'outrigger-link)

(defvar outrigger-diff-function)

(defcustom outrigger-select-proposal nil
  "Whether to select the window of a proposal that comes.
With t it is selected unless the person is in a terminal or in the
minibuffer; with `always', even then."
  :type '(choice (const :tag "Never" nil)
                 (const :tag "Not out of a terminal or the minibuffer" t)
                 (const :tag "Always" always))
  :group 'outrigger)

(defcustom outrigger-terminal-modes
  '(comint-mode eat-mode eshell-mode term-mode vterm-mode)
  "Major modes in which a person types to a program, and is not to be disturbed."
  :type '(repeat symbol)
  :group 'outrigger)

(defcustom outrigger-proposal-opened-functions nil
  "Functions called with each review that comes."
  :type 'hook
  :group 'outrigger)

(defcustom outrigger-proposal-closed-functions nil
  "Functions called with each review that is over."
  :type 'hook
  :group 'outrigger)

(defconst outrigger-review--rest 0.3
  "How long in seconds edits of a proposal are gathered before they are shown.")

(cl-defstruct (outrigger-review
               (:constructor outrigger-review--make)
               (:copier nil))
  "A proposal as the person sees it.
BEFORE and AFTER are its texts as they came, and TOLD is what the
companion takes AFTER to be by now, or nil if that is not known.
FIXED says that the agent takes AFTER as it is or not at all.
MARK and LINE-END are what AFTER has of a byte order mark and of
carriage returns that its buffer has not.  STAMP is when the file
was last written before."
  link id path agent session before after told dirty fixed mark (line-end "\n") stamp
  original-buffer proposed-buffer view control windows timer)

(defvar outrigger-reviews nil
  "The proposals that wait for a decision, oldest first.")

(defvar outrigger-review-edited-functions nil
  "Functions called with a review whose proposed text the person has changed.")

(defvar outrigger-review-ending-functions nil
  "Functions called with a review whose buffers are about to go.")

(defvar-local outrigger-review-current nil
  "The review that this buffer is part of.")
(put 'outrigger-review-current 'permanent-local t)

;;; What the companion says

(cl-defmethod outrigger-link-handle (link (_method (eql 'outrigger/proposal/open)) params)
  "Show the proposal of LINK that PARAMS describe, and say so at once."
  (let ((known (outrigger-review--find link (plist-get params :id))))
    (if (and known (equal (outrigger-review-session known) (plist-get params :session)))
        ;; The companion was started again; the person may be in the middle of it.
        (setf (outrigger-review-told known) (plist-get params :proposed))
      (let ((review (outrigger-review--read link params)))
        (setq outrigger-reviews (append (remq known outrigger-reviews) (list review)))
        (when known
          (outrigger-review--put-away known))
        (run-with-timer 0 nil #'outrigger-review--arrive review))))
  '(:opened t))

(cl-defmethod outrigger-link-handle (link (_method (eql 'outrigger/proposal/close)) params)
  "Put the proposal of LINK that PARAMS name away, and answer with its text."
  (when-let ((review (outrigger-review--find link (plist-get params :id))))
    (setq outrigger-reviews (remq review outrigger-reviews))
    (run-with-timer 0 nil #'outrigger-review--depart review)
    (let ((text (outrigger-review--text review)))
      (unless (equal text (outrigger-review-told review))
        (list :text text)))))

(defun outrigger-review-forget-lost (link)
  "Put away what is no longer pending after the companion of LINK came back."
  (dolist (review outrigger-reviews)
    (when (eq link (outrigger-review-link review))
      (setf (outrigger-review-told review) nil)))
  (outrigger-link-ask
   link :outrigger/proposal/list nil
   (lambda (result)
     (let* ((pending (mapcar (lambda (it) (plist-get it :id)) (plist-get result :proposals)))
            (lost (seq-filter (lambda (review)
                                (and (eq link (outrigger-review-link review))
                                     (not (memql (outrigger-review-id review) pending))))
                              outrigger-reviews)))
       (setq outrigger-reviews (seq-difference outrigger-reviews lost #'eq))
       (mapc #'outrigger-review--depart lost)))))

(defun outrigger-review-forget-all ()
  "Put every review away, undecided."
  (while outrigger-reviews
    (outrigger-review--put-away (pop outrigger-reviews))))

(defun outrigger-review--find (link id)
  "Return the review with ID that came over LINK."
  (seq-find (lambda (review)
              (and (eq link (outrigger-review-link review))
                   (eql id (outrigger-review-id review))))
            outrigger-reviews))

(defun outrigger-review--read (link params)
  "Return a review of the proposal that PARAMS of LINK describe."
  (let* ((before (plist-get params :original))
         (after (plist-get params :proposed))
         (path (plist-get params :path))
         (review (outrigger-review--make
                  :link link :id (plist-get params :id) :path path
                  :agent (plist-get params :agent) :session (plist-get params :session)
                  :before before :after after :told after
                  :dirty (eq (plist-get params :dirty) t)
                  :fixed (eq (plist-get params :editable) :json-false)
                  :stamp (outrigger-review--stamp path))))
    ;; Where the two differ in this the person has to see it.
    (when (or (null before) (equal (outrigger-review--mark before) (outrigger-review--mark after)))
      (setf (outrigger-review-mark review) (outrigger-review--mark after)))
    (when (or (null before)
              (equal (outrigger-review--line-end before) (outrigger-review--line-end after)))
      (setf (outrigger-review-line-end review) (outrigger-review--line-end after)))
    review))

(defun outrigger-review--stamp (path)
  "Return when the file at PATH was last written, or nil if there is none."
  (file-attribute-modification-time (file-attributes path)))

(defun outrigger-review--arrive (review)
  "Show REVIEW, which has just come."
  (when (memq review outrigger-reviews)
    (message "%s" (outrigger-review-describe review))
    (when (outrigger-review--frame-p)
      (outrigger-review-show
       review
       (and outrigger-select-proposal
            (or (eq outrigger-select-proposal 'always) (not (outrigger-review-busy-p))))))
    (run-hook-with-args 'outrigger-proposal-opened-functions review)))

(defun outrigger-review--depart (review)
  "Put REVIEW away, which is over."
  (outrigger-review--put-away review)
  (outrigger-review--expect-write review)
  (run-hook-with-args 'outrigger-proposal-closed-functions review))

(defun outrigger-review--frame-p ()
  "Return non-nil if there is somebody to show something to.
A daemon starts with a frame that nobody sees."
  (not (and (daemonp) (equal (terminal-name (frame-terminal)) "initial_terminal"))))

(defun outrigger-review-busy-p ()
  "Return non-nil if the person is in a terminal or in the minibuffer."
  (or (active-minibuffer-window)
      (with-current-buffer (window-buffer (selected-window))
        (apply #'derived-mode-p outrigger-terminal-modes))))

(defun outrigger-review-describe (review)
  "Return a sentence about REVIEW."
  (format "%s wants to %s %s%s"
          (outrigger-review-agent review)
          (if (outrigger-review-before review) "change" "create")
          (file-relative-name (outrigger-review-path review)
                              (outrigger-link-root (outrigger-review-link review)))
          (if (outrigger-review-dirty review)
              ", and has not read your unsaved changes there"
            "")))

(defun outrigger-review-check-editable (review)
  "Signal an error if the text of REVIEW can only be taken as it is."
  (when (outrigger-review-fixed review)
    (user-error "%s takes its own text or none: accept it as it is, or reject it"
                (outrigger-review-agent review))))

;;; Texts

(defun outrigger-review--mark (text)
  "Return the byte order mark of TEXT, or nil."
  (and (string-prefix-p "\uFEFF" text) "\uFEFF"))

(defun outrigger-review--line-end (text)
  "Return what ends each line of TEXT; a mixture is left as it is."
  (if (and (string-search "\n" text) (not (string-match-p "\\(?:\\`\\|[^\r]\\)\n" text)))
      "\r\n"
    "\n"))

(defun outrigger-review--decode (review text)
  "Return TEXT of REVIEW as it stands in a buffer."
  (string-replace (outrigger-review-line-end review) "\n"
                  (string-remove-prefix (or (outrigger-review-mark review) "") text)))

(defun outrigger-review--encode (review text)
  "Return TEXT of a buffer as it belongs in the file of REVIEW."
  (concat (outrigger-review-mark review)
          (string-replace "\n" (outrigger-review-line-end review) text)))

(defun outrigger-review--text (review)
  "Return the text that the person has made of REVIEW so far."
  (let ((buffer (outrigger-review-proposed-buffer review)))
    (if (buffer-live-p buffer)
        (outrigger-review--encode
         review (with-current-buffer buffer
                  (save-restriction
                    (widen)
                    (buffer-substring-no-properties (point-min) (point-max)))))
      (outrigger-review-told review))))

(defun outrigger-review-original (review)
  "Return the buffer with the text that REVIEW would change.
If the file is open with unsaved changes, it has those too."
  (let ((visiting (and (outrigger-review-dirty review)
                       (find-buffer-visiting (outrigger-review-path review)))))
    (outrigger-review-buffer
     review #'outrigger-review-original-buffer "original"
     (lambda ()
       (setf (outrigger-review-original-buffer review) (current-buffer))
       (if visiting
           (insert (with-current-buffer visiting
                     (save-restriction
                       (widen)
                       (buffer-substring-no-properties (point-min) (point-max)))))
         (insert (outrigger-review--decode review (or (outrigger-review-before review) ""))))
       (outrigger-review--dress review)
       (setq buffer-read-only t)))))

(defun outrigger-review-proposed (review)
  "Return the buffer with the text that REVIEW proposes, for the person to edit.
It is read-only if the agent takes no other text."
  (outrigger-review-buffer
   review #'outrigger-review-proposed-buffer "proposed"
   (lambda ()
     (setf (outrigger-review-proposed-buffer review) (current-buffer))
     (insert (outrigger-review--decode review (or (outrigger-review-told review)
                                                 (outrigger-review-after review))))
     (outrigger-review--dress review)
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
                                    (file-name-nondirectory (outrigger-review-path review))))
        (setq default-directory (outrigger-link-root (outrigger-review-link review))
              buffer-file-coding-system 'utf-8-unix)
        (funcall fill)
        (goto-char (point-min))
        (set-buffer-modified-p nil)
        (setq outrigger-review-current review)
        (current-buffer)))))

(defun outrigger-review--dress (review)
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
  "Show and tell what the person has made of REVIEW."
  (setf (outrigger-review-timer review) nil)
  (when (memq review outrigger-reviews)
    (let ((text (outrigger-review--text review)))
      (unless (equal text (outrigger-review-told review))
        (setf (outrigger-review-told review) text)
        (outrigger-link-notify (outrigger-review-link review) :outrigger/proposal/update
                               (list :id (outrigger-review-id review) :text text)))
      (run-hook-with-args 'outrigger-review-edited-functions review))))

;;; Deciding

;;;###autoload
(defun outrigger-show ()
  "Go to a proposal that waits for a decision."
  (interactive)
  (outrigger-review-show (outrigger-review--choose "Show: ") t))

;;;###autoload
(defun outrigger-accept ()
  "Accept a proposal, with what you have made of it."
  (interactive)
  (outrigger-review--accept (outrigger-review--choose "Accept: ")))

;;;###autoload
(defun outrigger-reject ()
  "Reject a proposal."
  (interactive)
  (outrigger-review--reject (outrigger-review--choose "Reject: ")))

(defun outrigger-review--choose (prompt)
  "Return the review that the person means, asked for with PROMPT if need be."
  (or (and (memq outrigger-review-current outrigger-reviews) outrigger-review-current)
      (pcase outrigger-reviews
        ('nil (user-error "There is no proposal to decide"))
        (`(,only) only)
        (_ (let ((names (mapcar (lambda (review)
                                  (cons (format "%d: %s" (outrigger-review-id review)
                                                (outrigger-review-describe review))
                                        review))
                                outrigger-reviews)))
             (cdr (assoc (completing-read prompt names nil t) names)))))))

(defun outrigger-review--accept (review)
  "Accept REVIEW as the person has it now."
  (when (or (equal (outrigger-review-stamp review)
                   (outrigger-review--stamp (outrigger-review-path review)))
            (yes-or-no-p (format "%s was written since the agent read it; overwrite it? "
                                 (file-name-nondirectory (outrigger-review-path review)))))
    (let ((text (outrigger-review--text review)))
      ;; Without a text it is the companion's own, byte for byte.
      (outrigger-review--decide
       review (if (equal text (outrigger-review-told review))
                  '(:accepted t)
                (list :accepted t :text text))))))

(defun outrigger-review--reject (review)
  "Reject REVIEW."
  (outrigger-review--decide review '(:accepted :json-false)))

(defun outrigger-review--decide (review verdict)
  "Send VERDICT on REVIEW; the companion puts it away when it has taken it."
  (let ((path (outrigger-review-path review)))
    (outrigger-link-ask
     (outrigger-review-link review) :outrigger/proposal/verdict
     `(:id ,(outrigger-review-id review) ,@verdict)
     (lambda (result)
       (message "%s the edit of %s%s"
                (if (eq (plist-get verdict :accepted) t) "Accepted" "Rejected")
                (file-name-nondirectory path)
                (if (eq (plist-get result :delivered) t)
                    ""
                  "; the agent will hear it when it is back"))))))

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

(defun outrigger-review--put-away (review)
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

(defconst outrigger-review--glance 0.25
  "How often in seconds to look whether an agent has written a file.")

(defconst outrigger-review--patience 30
  "How long in seconds to look for it.")

(defun outrigger-review--expect-write (review)
  "Reload the file of REVIEW where it is open, once the agent has written it."
  (let* ((path (outrigger-review-path review))
         (end (+ (float-time) outrigger-review--patience))
         timer)
    (setq timer
          (run-with-timer
           0 outrigger-review--glance
           (lambda ()
             (let ((buffer (find-buffer-visiting path)))
               (when (or (null buffer)
                         (> (float-time) end)
                         (outrigger-review--reload buffer))
                 (cancel-timer timer))))))))

(defun outrigger-review--reload (buffer)
  "Take over in BUFFER what was written to its file; return nil if nothing was.
A buffer with unsaved changes is left alone."
  (with-current-buffer buffer
    (unless (or (verify-visited-file-modtime buffer) (not (file-exists-p buffer-file-name)))
      (if (buffer-modified-p)
          (message "%s was written by an agent, and has unsaved changes here"
                   (file-name-nondirectory buffer-file-name))
        (revert-buffer t t t))
      t)))

;;; The proposed text

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
