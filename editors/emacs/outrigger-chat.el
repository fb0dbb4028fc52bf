;;; outrigger-chat.el --- A conversation with a daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The companion keeps the conversation.  This file follows it while the person
;; has it open: outrigger-chat-transcript.el shows what was said,
;; outrigger-chat-prompt.el is where the person writes, and
;; outrigger-chat-requests.el asks for what the daemon wants to know.

;;; Code:

(require 'outrigger-chat-entries)
(require 'outrigger-chat-prompt)
(require 'outrigger-chat-requests)
(require 'outrigger-chat-status)
(require 'outrigger-chat-transcript)
(require 'outrigger-companion)
(require 'outrigger-workspace)

(defvar-local outrigger-chat--companion nil "The companion whose conversation this buffer shows.")
(defvar-local outrigger-chat--status nil "How things stand.")
(defvar-local outrigger-chat--requests nil "Everything that waits for the person.")
(defvar-local outrigger-chat--shortened nil "Whether older parts are not kept.")

;;; The buffer

(defvar outrigger-chat-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'outrigger-chat)
    (define-key map (kbd "TAB") #'outrigger-transcript-toggle)
    (define-key map "a" #'outrigger-chat-answer)
    (define-key map "d" #'outrigger-chat-decline)
    (define-key map "k" #'outrigger-chat-cancel)
    (define-key map "m" #'outrigger-chat-model)
    (define-key map "M" #'outrigger-chat-mode-of-approval)
    (define-key map "o" #'outrigger-chat-sessions)
    (define-key map "c" #'outrigger-chat-connect)
    map)
  "Keys of a conversation.")

(define-derived-mode outrigger-chat-mode special-mode "Outrigger-Chat"
  "A conversation with a daemon.
Its files, MCP servers, skills and credentials are those of the
machine and folder that the first line names.

\\{outrigger-chat-mode-map}"
  (setq header-line-format '(:eval (outrigger-chat--header)))
  (setq-local revert-buffer-function (lambda (&rest _) (outrigger-chat--follow)))
  (add-hook 'kill-buffer-hook #'outrigger-chat--leave nil t)
  (outrigger-chat-transcript-begin))

(defun outrigger-chat--find (companion)
  "Return the buffer with the conversation of COMPANION, or nil."
  (seq-find (lambda (buffer) (eq companion (buffer-local-value 'outrigger-chat--companion buffer)))
            (buffer-list)))

(defun outrigger-chat--buffer (companion)
  "Return the buffer with the conversation of COMPANION, made if need be."
  (or (outrigger-chat--find companion)
      (let ((root (outrigger-companion-root companion)))
        (with-current-buffer (get-buffer-create
                              (format "*outrigger-chat %s*" (abbreviate-file-name root)))
          (outrigger-chat-mode)
          (setq outrigger-chat--companion companion
                default-directory root)
          (outrigger-chat--show-status)
          (outrigger-chat--follow)
          (current-buffer)))))

(defun outrigger-chat--follow ()
  "Follow the conversation of this buffer, now or when the companion is there."
  (when (outrigger-companion-running-p outrigger-chat--companion)
    (let ((buffer (current-buffer)))
      (outrigger-companion-request
       outrigger-chat--companion :outrigger/daemon/follow '(:follow t) nil
       (lambda (why)
         (when (buffer-live-p buffer)
           (with-current-buffer buffer
             (outrigger-chat--set-status `(:connection (:state "failed" :why ,why))))))))))

(defun outrigger-chat-resume (companion)
  "Follow the conversation of COMPANION, whose companion is there now."
  (when-let ((buffer (outrigger-chat--find companion)))
    (with-current-buffer buffer
      (outrigger-chat--follow))))

(defun outrigger-chat--leave ()
  "Do not follow the conversation of this buffer any more."
  (when (outrigger-companion-running-p outrigger-chat--companion)
    (outrigger-companion-request outrigger-chat--companion :outrigger/daemon/follow '(:follow :json-false)))
  (outrigger-chat-requests-set outrigger-chat--companion nil))

(defun outrigger-chat--here ()
  "Return the companion that the person means."
  (or outrigger-chat--companion
      outrigger-chat-prompt--companion
      (outrigger-workspace-companion default-directory)
      (car outrigger-companions)
      (user-error "Outrigger serves no workspace; see `outrigger-health'")))

;;; How things stand

(defun outrigger-chat--header ()
  "Return the line above a conversation."
  (outrigger-chat-status-header outrigger-chat--companion outrigger-chat--status (window-width)))

(defun outrigger-chat--show-status ()
  "Show how things stand in this conversation."
  (outrigger-chat-transcript-set-edges
   (outrigger-chat-status-head outrigger-chat--status outrigger-chat--shortened)
   (outrigger-chat-status-tail outrigger-chat--status outrigger-chat--requests))
  (force-mode-line-update))

(defun outrigger-chat--set-status (status)
  "Take note of STATUS."
  (setq outrigger-chat--status status)
  (outrigger-chat-prompt-set-commands (outrigger-companion-root outrigger-chat--companion)
                                 (plist-get status :commands))
  (outrigger-chat--show-status))

(defun outrigger-chat--set-requests (requests)
  "Take note of REQUESTS."
  (setq outrigger-chat--requests requests)
  (outrigger-chat--show-status)
  (outrigger-chat-requests-set outrigger-chat--companion requests))

;;; What the companion says

(cl-defmethod outrigger-companion-handle (companion (_method (eql 'outrigger/daemon/all)) params)
  "Show everything that PARAMS say of the conversation of COMPANION."
  (when-let ((buffer (outrigger-chat--find companion)))
    (with-current-buffer buffer
      (setq outrigger-chat--shortened (eq (plist-get params :shortened) t))
      (outrigger-chat-transcript-reset (plist-get params :entries))
      (outrigger-chat--set-status (plist-get params :status))
      (outrigger-chat--set-requests (plist-get params :requests)))))

(cl-defmethod outrigger-companion-handle (companion (_method (eql 'outrigger/daemon/change)) params)
  "Show the step in PARAMS of the conversation of COMPANION."
  (when-let ((buffer (outrigger-chat--find companion)))
    (with-current-buffer buffer
      (pcase (plist-get params :change)
        ("put" (outrigger-chat-transcript-put (plist-get params :entry)))
        ("append" (outrigger-chat-transcript-append (plist-get params :id) (plist-get params :text)))
        ("shorten" (outrigger-chat-transcript-shorten (plist-get params :first))
         (setq outrigger-chat--shortened t)
         (outrigger-chat--show-status))
        ("clear" (setq outrigger-chat--shortened nil)
         (outrigger-chat-transcript-reset nil)
         (outrigger-chat--show-status))
        ("status" (outrigger-chat--set-status (plist-get params :status)))
        ("requests" (outrigger-chat--set-requests (plist-get params :requests)))))))

;;; Commands

(defun outrigger-chat--show (companion)
  "Show the conversation of COMPANION, and return the window in which to write."
  (let* ((buffer (outrigger-chat--buffer companion))
         (new (not (get-buffer-window buffer)))
         (window (or (get-buffer-window buffer)
                     (display-buffer buffer '(nil (inhibit-same-window . t))))))
    (with-selected-window window
      (when new
        (goto-char (point-max)))
      (display-buffer (outrigger-chat-prompt-buffer companion)
                      '((display-buffer-reuse-window display-buffer-below-selected)
                        (window-height . 6))))))

;;;###autoload
(defun outrigger-chat ()
  "Go to the conversation with a daemon, to write.
It is followed from now on, until its buffer is killed."
  (interactive)
  (select-window (outrigger-chat--show (outrigger-chat--here))))

;;;###autoload
(defun outrigger-chat-say (text)
  "Say TEXT to the daemon, and stay here.
In it @path attaches a file of the workspace, and @selection what
is selected."
  (interactive (list (read-string "Say: ")))
  (unless (string-blank-p text)
    (let ((companion (outrigger-chat--here)))
      (outrigger-chat--show companion)
      (outrigger-chat-prompt-say companion text))))

(defun outrigger-chat--oldest ()
  "Return the buffer with the conversation here, and what has waited longest in it."
  (let* ((buffer (outrigger-chat--buffer (outrigger-chat--here)))
         (waiting (buffer-local-value 'outrigger-chat-requests--waiting buffer)))
    (if waiting
        (cons buffer (car waiting))
      (user-error "Nothing waits for an answer"))))

(defun outrigger-chat-answer ()
  "Answer what has waited longest."
  (interactive)
  (pcase-let ((`(,buffer . ,request) (outrigger-chat--oldest)))
    (with-current-buffer buffer
      (outrigger-chat-requests-ask request))))

(defun outrigger-chat-decline ()
  "Give no answer to what has waited longest."
  (interactive)
  (pcase-let ((`(,buffer . ,request) (outrigger-chat--oldest)))
    (with-current-buffer buffer
      (outrigger-chat-requests-decline request))))

(defun outrigger-chat-cancel ()
  "End what the agent is doing."
  (interactive)
  (outrigger-companion-request (outrigger-chat--here) :outrigger/daemon/cancel nil))

(defun outrigger-chat--choose (prompt what field method)
  "Ask with PROMPT for one of WHAT in the status, and send it as FIELD of METHOD."
  (let* ((companion (outrigger-chat--here))
         (status (buffer-local-value 'outrigger-chat--status (outrigger-chat--buffer companion)))
         (choices (mapcar (lambda (choice)
                            (cons (outrigger-chat-entries-line (plist-get choice :name))
                                  (plist-get choice :id)))
                          (plist-get status what)))
         (chosen (if choices
                     (assoc (completing-read prompt choices nil t) choices)
                   (user-error "There is nothing to choose from; M-x outrigger-chat says why"))))
    (when chosen
      (outrigger-companion-request companion method (list field (cdr chosen))))))

(defun outrigger-chat-model ()
  "Choose the model."
  (interactive)
  (outrigger-chat--choose "Model: " :models :model :outrigger/daemon/model))

(defun outrigger-chat-mode-of-approval ()
  "Choose what the agent may do without asking."
  (interactive)
  (outrigger-chat--choose "Without asking: " :modes :mode :outrigger/daemon/mode))

(defun outrigger-chat-connect (which)
  "Connect to the last conversation, a new one, or to a daemon started for it.
WHICH is \"last\", \"new\" or \"start\"."
  (interactive (list (completing-read "Which: " '("last" "new" "start") nil t nil nil "last")))
  (let ((companion (outrigger-chat--here)))
    (outrigger-chat--show companion)
    (if (equal which "start")
        (outrigger-companion-request companion :outrigger/daemon/start nil)
      (outrigger-companion-request companion :outrigger/daemon/connect `(:which ,which)))))

(defun outrigger-chat-sessions ()
  "Choose an earlier conversation."
  (interactive)
  (let ((companion (outrigger-chat--here)))
    (outrigger-companion-request
     companion :outrigger/daemon/earlier nil
     (lambda (result)
       (run-with-timer 0 nil #'outrigger-chat--open-earlier companion (plist-get result :sessions))))))

(defun outrigger-chat--open-earlier (companion sessions)
  "Ask which of SESSIONS to open, and open it over COMPANION."
  (let* ((choices (mapcar (lambda (session)
                            (cons (outrigger-chat--describe session) (plist-get session :key)))
                          sessions))
         (chosen (assoc (completing-read "Conversation: " choices nil t) choices)))
    (when chosen
      (outrigger-companion-request companion :outrigger/daemon/connect `(:which (:earlier ,(cdr chosen)))))))

(defun outrigger-chat--describe (session)
  "Return a line about SESSION, an earlier conversation."
  (outrigger-chat-entries-line
   (concat (or (plist-get session :title) "without a title")
           (when-let ((when (plist-get session :updatedAt)))
             (concat ", " when))
           (cond ((eq (plist-get session :current) t) " (this one)")
                 ((eq (plist-get session :busy) t) " (working)")))))

(provide 'outrigger-chat)
;;; outrigger-chat.el ends here
