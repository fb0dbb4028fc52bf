;;; outrigger-companion.el --- One companion for each workspace  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Starts companions, starts them again when they end by themselves, stops
;; them, and hands what they say to `outrigger-companion-handle'.  There is one
;; for each workspace.  This file knows nothing of buffers and proposals.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'outrigger-config)
(require 'outrigger-connection)
(require 'outrigger-daemon)
(require 'outrigger-log)
(require 'outrigger-restart)
(require 'outrigger-text)
(require 'outrigger-uri)

(defconst outrigger-companion--protocol 1
  "The version of the editor protocol that this package speaks.")

(cl-defstruct (outrigger-companion
               (:constructor outrigger-companion--make (root))
               (:copier nil))
  "The companion of one workspace.
STATE is one of `stopped', `starting', `running', `restarting' (it
ended by itself and is about to be started again) and `failed' (it
was given up).  FAILURES are unexpected ends in a row, and STARTED
is when it was started last."
  root connection (state 'stopped) server port environment status
  (failures 0) started timer)

(defvar outrigger-companions nil
  "All companions, one for each workspace.")

(defvar outrigger-companions-changed-hook nil
  "Hook run when `outrigger-companions' has changed.")

(defvar outrigger-companion-running-functions nil
  "Functions called with a companion when it can be talked to.")

(cl-defgeneric outrigger-companion-handle (companion method params)
  "Handle METHOD with PARAMS, which COMPANION has sent.
The value is the answer, if it was a request.")

(defmacro outrigger-companion--try (companion method &rest body)
  "Run BODY, which sends METHOD to COMPANION.
One that has just ended must not fail what the person does.  The
log has the kind of the error only: the rest may quote a text."
  (declare (indent 2) (debug t))
  `(condition-case problem
       (progn ,@body)
     (error (outrigger-companion-log ,companion
                                     (format "cannot send %s: %s" ,method (car problem))))))

;;; Starting and stopping

(defun outrigger-companion--warn (text)
  "Show TEXT in a window of its own.
That waits until Emacs does: while it starts, it shows the files
that it was started with in whatever window there is."
  (if noninteractive
      (display-warning 'outrigger text)
    (run-with-idle-timer 0 nil #'display-warning 'outrigger text)))

(defvar outrigger-companion--told-missing nil
  "Whether the person was told that there is no program.")

(defun outrigger-companion-program ()
  "Return the path of the program, or nil after saying once how to get it."
  (let ((program (executable-find outrigger-program)))
    (unless (or program outrigger-companion--told-missing)
      (setq outrigger-companion--told-missing t)
      (outrigger-companion--warn
       (format-message "there is no program `%s'.  Install it with `cargo install --path \
crates/outrigger' in a clone of the repository, or set `outrigger-program'"
                       outrigger-program)))
    program))

(defun outrigger-companion-add (root)
  "Start a companion for the workspace at ROOT, and return it.
The value is nil if there is no program to start."
  (when (outrigger-companion-program)
    (let ((companion (outrigger-companion--make root)))
      (push companion outrigger-companions)
      (run-hooks 'outrigger-companions-changed-hook)
      (outrigger-companion--start companion)
      companion)))

(defun outrigger-companion-stop (companion)
  "Stop COMPANION for good."
  (setq outrigger-companions (remq companion outrigger-companions))
  (run-hooks 'outrigger-companions-changed-hook)
  (outrigger-companion--end companion))

(defun outrigger-companion-restart (companion)
  "Start COMPANION again, as the person has asked.
What is pending stays so."
  (outrigger-companion--end companion t)
  (setf (outrigger-companion-failures companion) 0)
  (outrigger-companion--start companion))

(defun outrigger-companion--start (companion)
  "Start the process of COMPANION."
  (if-let ((program (outrigger-companion-program)))
      (let* ((default-directory (outrigger-companion-root companion))
             (connection (outrigger-connection-open
                          (format "outrigger %s" (abbreviate-file-name default-directory))
                          `(,program "lsp" ,@outrigger-arguments)
                          (lambda (method params)
                            (outrigger-companion-handle companion method params))
                          (lambda (text) (outrigger-companion-log companion text))
                          (lambda (connection) (outrigger-companion--ended companion connection)))))
        (setf (outrigger-companion-connection companion) connection
              (outrigger-companion-state companion)
              (if (zerop (outrigger-companion-failures companion)) 'starting 'restarting)
              (outrigger-companion-started companion) (float-time))
        (outrigger-companion--try companion :initialize
          (outrigger-connection-request
           connection :initialize (outrigger-companion--initialize-params companion)
           (lambda (result) (outrigger-companion--initialized companion connection result))
           (lambda (why)
             ;; If the process has ended, the rule for restarting applies.
             (when (outrigger-connection-running-p connection)
               (outrigger-companion--give-up companion why))))))
    (setf (outrigger-companion-state companion) 'failed)))

(defun outrigger-companion--initialize-params (companion)
  "Return the parameters of the first request to COMPANION."
  (let ((root (outrigger-companion-root companion)))
    `(:processId ,(emacs-pid)
      :clientInfo (:name "Emacs" :version ,emacs-version)
      :workspaceFolders [(:uri ,(outrigger-uri root)
                          :name ,(file-name-nondirectory (directory-file-name root)))]
      :capabilities (:general (:positionEncodings ["utf-8"])
                     :experimental (:outrigger t))
      :initializationOptions (,@(and outrigger-agents `(:agents ,(vconcat outrigger-agents)))
                              :ignore ,(vconcat outrigger-ignore)
                              ,@(outrigger-companion--daemon)))))

(defvar outrigger-companion--told-mistakes nil
  "What the person was told about `outrigger-daemon'.")

(defun outrigger-companion--daemon ()
  "Return what is sent about conversations.
What is wrong with it is told once."
  (pcase-let ((`(,sent . ,complaints) (outrigger-daemon-read outrigger-daemon)))
    (dolist (complaint complaints)
      (unless (member complaint outrigger-companion--told-mistakes)
        (push complaint outrigger-companion--told-mistakes)
        (outrigger-companion--warn complaint)))
    sent))

(defun outrigger-companion--initialized (companion connection result)
  "Go on with COMPANION, if CONNECTION is still its own.
RESULT is the answer to the first request."
  (when (eq connection (outrigger-companion-connection companion))
    (let* ((offers (plist-get result :capabilities))
           (protocol (plist-get (plist-get (plist-get offers :experimental) :outrigger) :version)))
      (setf (outrigger-companion-server companion) (plist-get (plist-get result :serverInfo) :version))
      (if (not (eql protocol outrigger-companion--protocol))
          (outrigger-companion--give-up
           companion
           (format "outrigger %s speaks version %s of the editor protocol and this package version %s; \
update the older one"
                   (outrigger-companion-server companion) protocol outrigger-companion--protocol))
        (let ((paused (outrigger-companion-paused-p companion)))
          (setf (outrigger-companion-state companion) 'running)
          (outrigger-companion-notify companion :initialized nil)
          ;; A companion that ended has forgotten it, and nothing may be told before it knows.
          (when paused
            (outrigger-companion-notify companion :outrigger/pause '(:paused t)))
          (run-hook-with-args 'outrigger-companion-running-functions companion))))))

(defun outrigger-companion-leave (companion)
  "Leave COMPANION, because Emacs closes.
It waits for the next editor if agents are connected."
  (when-let ((connection (outrigger-companion-connection companion)))
    (outrigger-connection-leave connection)))

(defun outrigger-companion--end (companion &optional again)
  "End the process of COMPANION.
The companion behind it ends too, unless another editor is in it.
AGAIN says that the caller starts it again at once."
  ;; One that ends for good rejects what Gemini CLI has open, which could not be answered later.
  ;; One that is started again must not.
  (outrigger-companion-notify companion :outrigger/stop (and again '(:restart t)))
  (let ((connection (outrigger-companion-connection companion))
        (timer (outrigger-companion-timer companion)))
    (setf (outrigger-companion-state companion) 'stopped
          (outrigger-companion-connection companion) nil
          (outrigger-companion-environment companion) nil)
    (when timer
      (cancel-timer timer))
    (when connection
      (outrigger-connection-close connection))))

(defun outrigger-companion--give-up (companion why)
  "Give COMPANION up, and tell the person WHY."
  (outrigger-companion--end companion)
  (setf (outrigger-companion-state companion) 'failed)
  (outrigger-companion-log companion why)
  (outrigger-companion--warn why)
  (force-mode-line-update t))

(defun outrigger-companion--ended (companion connection)
  "Start COMPANION again if it was CONNECTION that ended by itself."
  (when (eq connection (outrigger-companion-connection companion))
    (setf (outrigger-companion-connection companion) nil)
    (pcase-let ((`(,failures . ,wait)
                 (outrigger-restart-after-end
                  (outrigger-companion-failures companion)
                  (- (float-time) (outrigger-companion-started companion)))))
      (setf (outrigger-companion-failures companion) failures)
      (if (not wait)
          (outrigger-companion--give-up
           companion
           (substitute-command-keys "the companion ends again and again; see \
\\[outrigger-log], then \\[outrigger-restart]"))
        (outrigger-companion-log
         companion (format "the companion ended unexpectedly; starting it again in %ss" wait))
        (when (= failures 1)
          (message "Outrigger: the companion ended unexpectedly and is started again; see %s"
                   (substitute-command-keys "\\[outrigger-log]")))
        (setf (outrigger-companion-state companion) 'restarting
              (outrigger-companion-timer companion)
              (run-with-timer wait nil #'outrigger-companion--start companion))
        (force-mode-line-update t)))))

;;; Messages

(defun outrigger-companion-running-p (companion)
  "Return non-nil if COMPANION can be talked to."
  (and (eq (outrigger-companion-state companion) 'running)
       (outrigger-connection-running-p (outrigger-companion-connection companion))))

(defun outrigger-companion-notify (companion method params)
  "Send the notification METHOD with PARAMS to COMPANION.
Nothing is sent if it does not run."
  (when (outrigger-companion-running-p companion)
    (outrigger-companion--try companion method
      (outrigger-connection-notify (outrigger-companion-connection companion) method params))))

(defun outrigger-companion-request (companion method params &optional done failed)
  "Send the request METHOD with PARAMS to COMPANION.
DONE is called with the result.  An error is shown to the person,
and FAILED is called with its message."
  (unless (outrigger-companion-running-p companion)
    (user-error "The companion of %s is %s; see %s"
                (abbreviate-file-name (outrigger-companion-root companion))
                (outrigger-companion-state companion)
                (substitute-command-keys "\\[outrigger-health]")))
  (outrigger-connection-request
   (outrigger-companion-connection companion) method params
   (or done #'ignore)
   (lambda (why)
     (message "Outrigger: %s" (outrigger-text-line why))
     (when failed
       (funcall failed why)))))

(defun outrigger-companion-call (companion method params)
  "Return the result of the request METHOD with PARAMS to COMPANION.
The value is nil if there is none within a second."
  (when (outrigger-companion-running-p companion)
    (outrigger-connection-call (outrigger-companion-connection companion) method params)))

(defun outrigger-companion-log (companion text)
  "Write TEXT to the log as something that happened to COMPANION."
  (outrigger-log-add (outrigger-companion-root companion) text))

(defun outrigger-companion-paused-p (companion)
  "Return non-nil if COMPANION is paused: agents see nothing open."
  (eq (plist-get (outrigger-companion-status companion) :paused) t))

(cl-defmethod outrigger-companion-handle (_companion method _params)
  "Refuse METHOD, which nobody knows."
  (jsonrpc-error :code -32601 :message (format "there is no method %s" method)))

(cl-defmethod outrigger-companion-handle (companion (_method (eql 'outrigger/ready)) params)
  "Keep what PARAMS say about COMPANION."
  (setf (outrigger-companion-port companion) (plist-get params :port)
        (outrigger-companion-environment companion)
        (cl-loop for (name value) on (plist-get params :environment) by #'cddr
                 collect (concat (substring (symbol-name name) 1) "=" value)))
  (outrigger-companion-log companion (format "running on port %s" (outrigger-companion-port companion)))
  (let ((default-directory (outrigger-companion-root companion)))
    (run-hooks 'outrigger-ready-hook)))

(cl-defmethod outrigger-companion-handle (companion (_method (eql 'outrigger/status)) params)
  "Keep PARAMS, the new status of COMPANION."
  (setf (outrigger-companion-status companion) params)
  (force-mode-line-update t))

(cl-defmethod outrigger-companion-handle (_companion (_method (eql 'window/showMessage)) params)
  "Show the message in PARAMS to the person."
  (message "Outrigger: %s" (outrigger-text-line (plist-get params :message))))

(cl-defmethod outrigger-companion-handle (companion (_method (eql 'window/logMessage)) params)
  "Write the message in PARAMS to the log of COMPANION."
  (outrigger-companion-log companion (plist-get params :message)))

(provide 'outrigger-companion)
;;; outrigger-companion.el ends here
