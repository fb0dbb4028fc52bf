;;; outrigger-chat.el --- A conversation with a daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The companion keeps the conversation.  This file follows it while the person
;; has it open: outrigger-transcript.el shows what was said, outrigger-prompt.el
;; is where the person writes, and outrigger-request.el asks for what the daemon
;; wants to know.

;;; Code:

(require 'outrigger-link)
(require 'outrigger-prompt)
(require 'outrigger-request)
(require 'outrigger-transcript)

(defconst outrigger-chat--states
  '(("off" . "not connected") ("starting" . "starting a daemon") ("connecting" . "connecting")
    ("catchingUp" . "catching up") ("live" . "connected") ("reconnecting" . "reconnecting")
    ("lost" . "connection lost") ("failed" . "not connected"))
  "How a connection is, for people.")

(defvar-local outrigger-chat--link nil "The link whose conversation this buffer shows.")
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
Its files, tools, MCP servers and credentials are those of the
machine and folder that the first line names.

\\{outrigger-chat-mode-map}"
  (setq header-line-format '(:eval (outrigger-chat--header)))
  (setq-local revert-buffer-function (lambda (&rest _) (outrigger-chat--follow)))
  (add-hook 'kill-buffer-hook #'outrigger-chat--leave nil t)
  (outrigger-transcript-begin))

(defun outrigger-chat--find (link)
  "Return the buffer with the conversation of LINK, or nil."
  (seq-find (lambda (buffer) (eq link (buffer-local-value 'outrigger-chat--link buffer)))
            (buffer-list)))

(defun outrigger-chat--buffer (link)
  "Return the buffer with the conversation of LINK, made if need be."
  (or (outrigger-chat--find link)
      (let ((root (outrigger-link-root link)))
        (with-current-buffer (get-buffer-create
                              (format "*outrigger-chat %s*" (abbreviate-file-name root)))
          (outrigger-chat-mode)
          (setq outrigger-chat--link link
                default-directory root)
          (outrigger-chat--surround)
          (outrigger-chat--follow)
          (current-buffer)))))

(defun outrigger-chat--follow ()
  "Follow the conversation of this buffer, now or when the companion is there."
  (when (outrigger-link-ready-p outrigger-chat--link)
    (let ((buffer (current-buffer)))
      (outrigger-link-ask
       outrigger-chat--link :outrigger/daemon/follow '(:follow t) nil
       (lambda (why)
         (when (buffer-live-p buffer)
           (with-current-buffer buffer
             (outrigger-chat--set-status `(:connection (:state "failed" :why ,why))))))))))

(defun outrigger-chat-resume (link)
  "Follow the conversation of LINK, whose companion is there now."
  (when-let ((buffer (outrigger-chat--find link)))
    (with-current-buffer buffer
      (outrigger-chat--follow))))

(defun outrigger-chat--leave ()
  "Do not follow the conversation of this buffer any more."
  (when (outrigger-link-ready-p outrigger-chat--link)
    (outrigger-link-ask outrigger-chat--link :outrigger/daemon/follow '(:follow :json-false)))
  (outrigger-request-mind outrigger-chat--link nil))

(defun outrigger-chat--here ()
  "Return the link that the person means."
  (or outrigger-chat--link
      outrigger-prompt--link
      (outrigger-link-at default-directory)
      (car outrigger-links)
      (user-error "Outrigger serves no workspace; `outrigger-health' says why")))

;;; How things stand

(defun outrigger-chat--place ()
  "Return which machine and folder the daemon works in, or nil."
  (when-let ((place (plist-get outrigger-chat--status :place)))
    (outrigger-transcript-line
     (format "%s:%s" (or (plist-get place :machine) "this machine")
             (plist-get (plist-get place :workspace) :daemonPath)))))

(defun outrigger-chat--header ()
  "Return the line above a conversation."
  (let* ((status outrigger-chat--status)
         (state (plist-get (plist-get status :connection) :state))
         (usage (plist-get status :usage))
         (size (or (plist-get usage :size) 0)))
    (string-replace
     "%" "%%"
     (concat
      " "
      (cond ((not (outrigger-link-ready-p outrigger-chat--link)) "the companion does not run")
            (state (or (cdr (assoc state outrigger-chat--states)) state))
            (t "waiting for the companion"))
      (when-let ((place (outrigger-chat--place)))
        (concat "  " place))
      (when-let ((model (plist-get status :model)))
        (concat "  " (outrigger-transcript-line model)))
      (when-let ((mode (plist-get status :mode)))
        (concat ", " (outrigger-transcript-line mode)))
      (unless (zerop size)
        (format ", %d%% used" (/ (* 100 (plist-get usage :used)) size)))
      (when (eq (plist-get status :busy) t)
        ", working")))))

(defun outrigger-chat--head ()
  "Return what the conversation is called, and where it takes place."
  (concat
   (propertize (outrigger-transcript-line (or (plist-get outrigger-chat--status :title)
                                              "Conversation"))
               'face 'bold)
   "\n"
   (when-let ((place (outrigger-chat--place)))
     (format "Files, tools, MCP servers and credentials are those of %s.\n" place))
   (when outrigger-chat--shortened
     "-- what was said before is not kept --\n")
   "\n"))

(defun outrigger-chat--tail ()
  "Return what is wrong or waits."
  (let* ((connection (plist-get outrigger-chat--status :connection))
         (lines
          (append
           (mapcar (lambda (it) (concat "! " it))
                   (delq nil
                         (list (plist-get connection :why) (plist-get connection :hint)
                               (when (or (plist-get connection :trouble)
                                         (member (plist-get connection :state) '("off" "lost")))
                                 (substitute-command-keys
                                  "\\<outrigger-chat-mode-map>\\[outrigger-chat-connect] tries \
again, or starts a daemon in this folder")))))
           (mapcar (lambda (it) (concat "… " (or (plist-get it :text) "a prompt that waits")))
                   (plist-get outrigger-chat--status :queue))
           (mapcar (lambda (it)
                     (format "? %s (%s)" (plist-get it :title)
                             (substitute-command-keys
                              (if (plist-get it :proposal) "\\[outrigger-show]"
                                "\\<outrigger-chat-mode-map>\\[outrigger-chat-answer]"))))
                   outrigger-chat--requests))))
    (mapconcat (lambda (line) (concat (outrigger-transcript-line line) "\n")) lines "")))

(defun outrigger-chat--surround ()
  "Show how things stand in this conversation."
  (outrigger-transcript-surround (outrigger-chat--head) (outrigger-chat--tail))
  (force-mode-line-update))

(defun outrigger-chat--set-status (status)
  "Take note of STATUS."
  (setq outrigger-chat--status status)
  (outrigger-prompt-set-commands (outrigger-link-root outrigger-chat--link)
                                 (plist-get status :commands))
  (outrigger-chat--surround))

(defun outrigger-chat--set-requests (requests)
  "Take note of REQUESTS."
  (setq outrigger-chat--requests requests)
  (outrigger-chat--surround)
  (outrigger-request-mind outrigger-chat--link requests))

;;; What the companion says

(cl-defmethod outrigger-link-handle (link (_method (eql 'outrigger/daemon/all)) params)
  "Show everything that PARAMS say of the conversation of LINK."
  (when-let ((buffer (outrigger-chat--find link)))
    (with-current-buffer buffer
      (setq outrigger-chat--shortened (eq (plist-get params :shortened) t))
      (outrigger-transcript-reset (plist-get params :entries))
      (outrigger-chat--set-status (plist-get params :status))
      (outrigger-chat--set-requests (plist-get params :requests)))))

(cl-defmethod outrigger-link-handle (link (_method (eql 'outrigger/daemon/change)) params)
  "Show the step in PARAMS of the conversation of LINK."
  (when-let ((buffer (outrigger-chat--find link)))
    (with-current-buffer buffer
      (pcase (plist-get params :change)
        ("put" (outrigger-transcript-put (plist-get params :entry)))
        ("append" (outrigger-transcript-append (plist-get params :id) (plist-get params :text)))
        ("shorten" (outrigger-transcript-shorten (plist-get params :first))
         (setq outrigger-chat--shortened t)
         (outrigger-chat--surround))
        ("clear" (setq outrigger-chat--shortened nil)
         (outrigger-transcript-reset nil)
         (outrigger-chat--surround))
        ("status" (outrigger-chat--set-status (plist-get params :status)))
        ("requests" (outrigger-chat--set-requests (plist-get params :requests)))))))

;;; Commands

(defun outrigger-chat--show (link)
  "Show the conversation of LINK, and return the window in which to write."
  (let* ((buffer (outrigger-chat--buffer link))
         (new (not (get-buffer-window buffer)))
         (window (or (get-buffer-window buffer)
                     (display-buffer buffer '(nil (inhibit-same-window . t))))))
    (with-selected-window window
      (when new
        (goto-char (point-max)))
      (display-buffer (outrigger-prompt-buffer link)
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
    (let ((link (outrigger-chat--here)))
      (outrigger-chat--show link)
      (outrigger-prompt-say link text))))

(defun outrigger-chat--oldest ()
  "Return the buffer with the conversation here, and what has waited longest in it."
  (let* ((buffer (outrigger-chat--buffer (outrigger-chat--here)))
         (waiting (buffer-local-value 'outrigger-request--waiting buffer)))
    (if waiting
        (cons buffer (car waiting))
      (user-error "Nothing waits for an answer"))))

(defun outrigger-chat-answer ()
  "Answer what has waited longest."
  (interactive)
  (pcase-let ((`(,buffer . ,request) (outrigger-chat--oldest)))
    (with-current-buffer buffer
      (outrigger-request-ask request))))

(defun outrigger-chat-decline ()
  "Give no answer to what has waited longest."
  (interactive)
  (pcase-let ((`(,buffer . ,request) (outrigger-chat--oldest)))
    (with-current-buffer buffer
      (outrigger-request-decline request))))

(defun outrigger-chat-cancel ()
  "End what the agent is doing."
  (interactive)
  (outrigger-link-ask (outrigger-chat--here) :outrigger/daemon/cancel nil))

(defun outrigger-chat--choose (prompt what field method)
  "Ask with PROMPT for one of WHAT in the status, and send it as FIELD of METHOD."
  (let* ((link (outrigger-chat--here))
         (status (buffer-local-value 'outrigger-chat--status (outrigger-chat--buffer link)))
         (choices (mapcar (lambda (choice)
                            (cons (outrigger-transcript-line (plist-get choice :name))
                                  (plist-get choice :id)))
                          (plist-get status what)))
         (chosen (if choices
                     (assoc (completing-read prompt choices nil t) choices)
                   (user-error "There is nothing to choose from; M-x outrigger-chat says why"))))
    (when chosen
      (outrigger-link-ask link method (list field (cdr chosen))))))

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
  (let ((link (outrigger-chat--here)))
    (outrigger-chat--show link)
    (if (equal which "start")
        (outrigger-link-ask link :outrigger/daemon/start nil)
      (outrigger-link-ask link :outrigger/daemon/connect `(:which ,which)))))

(defun outrigger-chat-sessions ()
  "Choose an earlier conversation."
  (interactive)
  (let ((link (outrigger-chat--here)))
    (outrigger-link-ask
     link :outrigger/daemon/earlier nil
     (lambda (result)
       (run-with-timer 0 nil #'outrigger-chat--open-earlier link (plist-get result :sessions))))))

(defun outrigger-chat--open-earlier (link sessions)
  "Ask which of SESSIONS to open, and open it over LINK."
  (let* ((choices (mapcar (lambda (session)
                            (cons (outrigger-chat--describe session) (plist-get session :key)))
                          sessions))
         (chosen (assoc (completing-read "Conversation: " choices nil t) choices)))
    (when chosen
      (outrigger-link-ask link :outrigger/daemon/connect `(:which (:earlier ,(cdr chosen)))))))

(defun outrigger-chat--describe (session)
  "Return a line about SESSION, an earlier conversation."
  (outrigger-transcript-line
   (concat (or (plist-get session :title) "without a title")
           (when-let ((when (plist-get session :updatedAt)))
             (concat ", " when))
           (cond ((eq (plist-get session :current) t) " (this one)")
                 ((eq (plist-get session :busy) t) " (working)")))))

(provide 'outrigger-chat)
;;; outrigger-chat.el ends here
