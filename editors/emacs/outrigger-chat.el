;;; outrigger-chat.el --- A conversation with a daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The companion keeps the conversation.  This file shows what it says in a
;; buffer, sends what the person says, and asks in the minibuffer for what the
;; daemon wants to know.  Edits that the daemon asks leave for are proposals,
;; and are shown by outrigger-review.el.

;;; Code:

(require 'outrigger-link)

(defcustom outrigger-chat-ask-at-once t
  "Whether to ask in the minibuffer as soon as the daemon wants something.
Otherwise \\[outrigger-chat-answer] does."
  :type 'boolean
  :group 'outrigger)

(defconst outrigger-chat--states
  '(("off" . "not connected") ("starting" . "starting a daemon") ("connecting" . "connecting")
    ("catchingUp" . "catching up") ("live" . "connected") ("reconnecting" . "reconnecting"))
  "How a connection is, for people.")

(defconst outrigger-chat--speakers
  '(("me" . "You") ("other" . "You, elsewhere") ("agent" . "Agent") ("thought" . "Thinking"))
  "Who speaks, as a heading.")

(defconst outrigger-chat--rest 0.05
  "How long in seconds pieces of a text are gathered before they are shown.")

(defvar-local outrigger-chat--link nil "The link whose conversation this buffer shows.")
(defvar-local outrigger-chat--status nil "How things stand.")
(defvar-local outrigger-chat--requests nil "What waits for the person, as a list.")
(defvar-local outrigger-chat--entries nil "What was said and done, newest first.")
(defvar-local outrigger-chat--told nil "The requests that the person was asked about.")
(defvar-local outrigger-chat--timer nil "What draws the buffer soon.")

;;; The buffer

(defvar outrigger-chat-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'outrigger-chat-say)
    (define-key map (kbd "s") #'outrigger-chat-say)
    (define-key map (kbd "a") #'outrigger-chat-answer)
    (define-key map (kbd "k") #'outrigger-chat-cancel)
    (define-key map (kbd "m") #'outrigger-chat-model)
    (define-key map (kbd "o") #'outrigger-chat-sessions)
    map)
  "Keys of a conversation.")

(define-derived-mode outrigger-chat-mode special-mode "Outrigger-Chat"
  "A conversation with a daemon.
Its files, tools and credentials are those of the place that the
first line names."
  (setq-local word-wrap t)
  (buffer-disable-undo))

(defun outrigger-chat--buffer (link)
  "Return the buffer with the conversation of LINK, made if need be."
  (let ((name (format "*outrigger-chat %s*" (abbreviate-file-name (outrigger-link-root link)))))
    (or (get-buffer name)
        (with-current-buffer (get-buffer-create name)
          (outrigger-chat-mode)
          (setq outrigger-chat--link link
                default-directory (outrigger-link-root link))
          (current-buffer)))))

(defun outrigger-chat--here ()
  "Return the link that the person means."
  (or outrigger-chat--link
      (outrigger-link-at default-directory)
      (car outrigger-links)
      (user-error "Outrigger serves no workspace; `outrigger-health' says why")))

(defun outrigger-chat--draw (buffer)
  "Draw the conversation in BUFFER, and stay at its end if the person is there."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((inhibit-read-only t)
            (following (seq-filter (lambda (window) (= (window-point window) (point-max)))
                                   (get-buffer-window-list buffer nil t)))
            (place (point))
            (at-end (= (point) (point-max))))
        (setq outrigger-chat--timer nil)
        (erase-buffer)
        (insert (outrigger-chat--text))
        (goto-char (if at-end (point-max) (min place (point-max))))
        (dolist (window following)
          (set-window-point window (point-max)))))))

(defun outrigger-chat--draw-soon ()
  "Draw the current conversation soon."
  (unless outrigger-chat--timer
    (setq outrigger-chat--timer
          (run-with-timer outrigger-chat--rest nil #'outrigger-chat--draw (current-buffer)))))

(defun outrigger-chat--text ()
  "Return the current conversation as text."
  (concat (and outrigger-chat--status (outrigger-chat--head outrigger-chat--status))
          (mapconcat #'outrigger-chat--entry (reverse outrigger-chat--entries) "")
          (mapconcat (lambda (request)
                       (format "? %s (%s)\n" (plist-get request :title)
                               (substitute-command-keys "\\[outrigger-chat-answer]")))
                     outrigger-chat--requests "")))

(defun outrigger-chat--head (status)
  "Return the lines that say how STATUS is and where the daemon works."
  (let* ((connection (plist-get status :connection))
         (state (plist-get connection :state))
         (place (plist-get status :place)))
    (concat
     (propertize (or (plist-get status :title) "Conversation") 'face 'bold)
     (format " (%s%s)\n"
             (or (cdr (assoc state outrigger-chat--states)) (plist-get connection :why))
             (if place
                 (format "; runs in %s on %s"
                         (plist-get (plist-get place :workspace) :daemonPath)
                         (or (plist-get place :machine) "this machine"))
               ""))
     (and (plist-get connection :hint) (concat (plist-get connection :hint) "\n"))
     (and (plist-get status :model)
          (format "model %s, mode %s%s\n" (plist-get status :model) (plist-get status :mode)
                  (if (eq (plist-get status :busy) t) ", working" "")))
     "\n")))

(defun outrigger-chat--entry (entry)
  "Return ENTRY as text."
  (concat
   (pcase (plist-get entry :kind)
     ("said" (let ((speaker (plist-get entry :speaker)))
               (concat (propertize (or (cdr (assoc speaker outrigger-chat--speakers)) speaker)
                                   'face 'bold)
                       "\n" (plist-get entry :text))))
     ("tool" (outrigger-chat--tool (plist-get entry :tool)))
     ("plan" (mapconcat (lambda (step)
                          (format "- [%s] %s"
                                  (if (equal (plist-get step :status) "completed") "x" " ")
                                  (plist-get step :text)))
                        (plist-get entry :steps) "\n"))
     ("ended" (format "-- the turn is %s%s --" (plist-get entry :how)
                      (if (plist-get entry :why) (concat ": " (plist-get entry :why)) "")))
     (_ (format "-- %s --" (plist-get entry :text))))
   "\n\n"))

(defun outrigger-chat--tool (tool)
  "Return the text of a TOOL, with its output."
  (string-join
   (delq nil
         `(,(format "[%s] %s" (or (plist-get tool :status) "...")
                    (or (plist-get tool :title) (plist-get tool :tool)))
           ,(and (plist-get tool :command) (concat "    $ " (plist-get tool :command)))
           ,@(mapcar (lambda (shown)
                       (if (equal (plist-get shown :type) "text")
                           (replace-regexp-in-string "^" "    " (plist-get shown :text))
                         (concat "    edits "
                                 (plist-get (plist-get shown :path) :daemonPath))))
                     (plist-get tool :content))))
   "\n"))

;;; What the companion says

(cl-defmethod outrigger-link-handle (link (_method (eql 'outrigger/daemon/all)) params)
  "Show everything that PARAMS say of the conversation of LINK."
  (with-current-buffer (outrigger-chat--buffer link)
    (setq outrigger-chat--status (plist-get params :status)
          outrigger-chat--entries (reverse (append (plist-get params :entries) nil)))
    (outrigger-chat--mind (plist-get params :requests))
    (outrigger-chat--draw-soon)))

(cl-defmethod outrigger-link-handle (link (_method (eql 'outrigger/daemon/change)) params)
  "Show the step in PARAMS of the conversation of LINK."
  (with-current-buffer (outrigger-chat--buffer link)
    (pcase (plist-get params :change)
      ("put" (outrigger-chat--put (plist-get params :entry)))
      ("append" (let ((entry (outrigger-chat--find (plist-get params :id))))
                  (plist-put entry :text (concat (plist-get entry :text)
                                                 (plist-get params :text)))))
      ("shorten" (setq outrigger-chat--entries
                       (seq-filter (lambda (entry)
                                     (>= (plist-get entry :id) (plist-get params :first)))
                                   outrigger-chat--entries)))
      ("clear" (setq outrigger-chat--entries nil))
      ("status" (setq outrigger-chat--status (plist-get params :status)))
      ("requests" (outrigger-chat--mind (plist-get params :requests))))
    (outrigger-chat--draw-soon)))

(defun outrigger-chat--find (id)
  "Return the entry with the number ID."
  (seq-find (lambda (entry) (eql (plist-get entry :id) id)) outrigger-chat--entries))

(defun outrigger-chat--put (entry)
  "Take in ENTRY, which is new or another one now."
  (let ((tail (seq-drop-while (lambda (known)
                                (not (eql (plist-get known :id) (plist-get entry :id))))
                              outrigger-chat--entries)))
    (if tail
        (setcar tail entry)
      (push entry outrigger-chat--entries))))

;;; What the daemon wants

(defun outrigger-chat--mind (requests)
  "Take note of REQUESTS, and ask about what is new."
  (setq outrigger-chat--requests
        ;; Edits are shown as diffs, and are decided there.
        (seq-remove (lambda (request) (plist-get request :proposal)) (append requests nil)))
  (let ((new (seq-remove (lambda (request)
                           (member (plist-get request :request) outrigger-chat--told))
                         outrigger-chat--requests)))
    (setq outrigger-chat--told
          (mapcar (lambda (request) (plist-get request :request)) outrigger-chat--requests))
    (when new
      (if (and outrigger-chat-ask-at-once (not (minibufferp (window-buffer (selected-window)))))
          ;; Later, because this is the middle of a message of the companion.
          (run-with-timer 0 nil #'outrigger-chat--ask outrigger-chat--link (car new))
        (message "The daemon asks: %s" (plist-get (car new) :title))))))

(defun outrigger-chat--ask (link request)
  "Ask the person what REQUEST wants to know, and tell it over LINK."
  (let ((reply (if (plist-get request :questions)
                   `(:answers ,(vconcat (mapcar #'outrigger-chat--question
                                                (plist-get request :questions))))
                 (outrigger-chat--option request))))
    (outrigger-link-ask
     link :outrigger/daemon/answer `(:request ,(plist-get request :request) :reply ,reply)
     (lambda (answered)
       (unless (eq (plist-get answered :counted) t)
         (message "Somebody else was faster"))))))

(defun outrigger-chat--option (request)
  "Let the person choose an option of REQUEST."
  (let* ((options (append (plist-get request :options) nil))
         (titles (mapcar (lambda (option) (plist-get option :title)) options))
         (command (plist-get (plist-get request :tool) :command))
         (chosen (completing-read (format "%s%s: " (plist-get request :title)
                                          (if command (format " (%s)" command) ""))
                                  titles nil t)))
    (if-let ((option (seq-find (lambda (option) (equal (plist-get option :title) chosen))
                               options)))
        `(:option ,(plist-get option :id))
      "decline")))

(defun outrigger-chat--question (question)
  "Let the person answer QUESTION: with labels, or in words of their own."
  (let ((prompt (concat (plist-get question :question) " "))
        (labels (mapcar (lambda (answer) (aref answer 0)) (plist-get question :answers))))
    (vconcat (if (eq (plist-get question :several) t)
                 (completing-read-multiple prompt labels)
               (list (completing-read prompt labels))))))

;;; Commands

;;;###autoload
(defun outrigger-chat ()
  "Show the conversation with a daemon, and follow it from now on."
  (interactive)
  (let ((link (outrigger-chat--here)))
    (outrigger-link-ask link :outrigger/daemon/follow '(:follow t))
    (pop-to-buffer (outrigger-chat--buffer link))
    (goto-char (point-max))))

;;;###autoload
(defun outrigger-chat-say (text)
  "Say TEXT to the daemon.
In it @path attaches a file of the workspace, and @selection what
is selected."
  (interactive (list (read-string "Say: ")))
  (unless (string-blank-p text)
    (outrigger-link-ask (outrigger-chat--here) :outrigger/daemon/prompt
                        `(:text ,text :mentions t))))

(defun outrigger-chat-answer ()
  "Answer what has waited longest."
  (interactive)
  (let ((link (outrigger-chat--here)))
    (with-current-buffer (outrigger-chat--buffer link)
      (if outrigger-chat--requests
          (outrigger-chat--ask link (car outrigger-chat--requests))
        (user-error "Nothing waits for an answer")))))

(defun outrigger-chat-cancel ()
  "End what the agent is doing."
  (interactive)
  (outrigger-link-ask (outrigger-chat--here) :outrigger/daemon/cancel nil))

(defun outrigger-chat--choose (prompt what field method)
  "Ask with PROMPT for one of WHAT in the status, and send it as FIELD of METHOD."
  (let* ((link (outrigger-chat--here))
         (status (buffer-local-value 'outrigger-chat--status (outrigger-chat--buffer link)))
         (choices (mapcar (lambda (choice) (cons (plist-get choice :name) (plist-get choice :id)))
                          (plist-get status what)))
         (chosen (completing-read prompt choices nil t)))
    (outrigger-link-ask link method (list field (cdr (assoc chosen choices))))))

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
  (if (equal which "start")
      (outrigger-link-ask (outrigger-chat--here) :outrigger/daemon/start nil)
    (outrigger-link-ask (outrigger-chat--here) :outrigger/daemon/connect `(:which ,which))))

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
                            (cons (format "%s %s" (plist-get session :key)
                                          (or (plist-get session :title) "without a title"))
                                  (plist-get session :key)))
                          sessions))
         (chosen (completing-read "Conversation: " choices nil t)))
    (outrigger-link-ask link :outrigger/daemon/connect
                        `(:which (:earlier ,(cdr (assoc chosen choices)))))))

(provide 'outrigger-chat)
;;; outrigger-chat.el ends here
