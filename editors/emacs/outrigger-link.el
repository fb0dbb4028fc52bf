;;; outrigger-link.el --- One companion for each workspace  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A link is an `outrigger lsp' process and the conversation with it.  There is
;; one for each workspace.  This file starts links, starts them again when they
;; die, and hands what they say to `outrigger-link-handle'.  It knows nothing of
;; buffers and proposals.

;;; Code:

(require 'cl-lib)
(require 'eieio)
(require 'jsonrpc)
(require 'project)
(require 'seq)
(require 'subr-x)
(require 'url-util)

(defgroup outrigger nil
  "IDE mode of terminal coding agents."
  :group 'tools
  :prefix "outrigger-"
  :link '(url-link "https://github.com/outrigger-dev/outrigger"))

(defcustom outrigger-program "outrigger"
  "The outrigger program: a name to look up in variable `exec-path', or a path."
  :type 'string)

(defcustom outrigger-arguments nil
  "More arguments for \"outrigger lsp\", as a list of strings."
  :type '(repeat string))

(defcustom outrigger-agents nil
  "Names of the agents that may connect; nil lets in all that outrigger knows."
  :type '(repeat string))

(defcustom outrigger-ignore nil
  "Patterns of files that agents are not told about, written as in .gitignore.
They are added to those of the program's own configuration."
  :type '(repeat string))

(defcustom outrigger-daemon nil
  "Whether to offer conversations with a daemon.
They are also on if the configuration of the program says so."
  :type 'boolean)

(defcustom outrigger-workspace-function #'outrigger-project-root
  "Function that finds the workspace of a folder.
It is called with the name of the folder, and returns the root of
the workspace or nil, which means that the folder is in none."
  :type 'function)

(defcustom outrigger-ready-hook nil
  "Hook run when a companion is ready for agents.
It runs with `default-directory' set to the root of the workspace."
  :type 'hook)

(defconst outrigger-link--protocol 1
  "The version of the editor protocol that this package speaks.")

(defconst outrigger-link--longest-wait 60
  "The longest time in seconds to wait before a companion is started again.
One that has lived that long counts as sound.")

(cl-defstruct (outrigger-link
               (:constructor outrigger-link--make (root))
               (:copier nil))
  "The companion of one workspace.
STATE is one of `starting', `ready', `waiting' (to be started
again), `refused' (it must not be) and `stopped'."
  root connection process (state 'stopped) server port environment status
  (failures 0) born timer)

(defvar outrigger-links nil
  "All links, one for each workspace.")

(defvar outrigger-link-ready-functions nil
  "Functions called with a link when its companion can be talked to.")

(cl-defgeneric outrigger-link-handle (link method params)
  "Do what the companion of LINK asks for with METHOD and PARAMS.
The value is the answer, if it was a request.")

;;; Workspaces

(defun outrigger-project-root (folder)
  "Return the root of the project that FOLDER is in.
A folder in no project belongs to the one that Emacs was started
in, if that is above it and is not the home folder or the root."
  (if-let ((project (project-current nil folder)))
      (project-root project)
    (let ((start command-line-default-directory))
      (and start
           (not (file-remote-p start))
           (not (file-equal-p start "~"))
           (not (file-equal-p start "/"))
           (file-in-directory-p folder start)
           start))))

(defvar outrigger-link--places (make-hash-table :test #'equal)
  "Which link each folder has, as far as it was asked for.
The mode line asks all the time.")

(defun outrigger-link-at (folder)
  "Return the link of the innermost workspace that FOLDER is in, or nil."
  (let ((known (gethash folder outrigger-link--places 'unknown)))
    (if (eq known 'unknown)
        (puthash folder (outrigger-link--around folder) outrigger-link--places)
      known)))

(defun outrigger-link--around (folder)
  "Find the link of the innermost workspace that FOLDER is in."
  (unless (file-remote-p folder)
    (let* ((folder (file-name-as-directory (file-truename folder)))
           (around (seq-filter (lambda (link)
                                 (string-prefix-p (outrigger-link-root link) folder))
                               outrigger-links)))
      (car (seq-sort-by (lambda (link) (length (outrigger-link-root link))) #'> around)))))

(defun outrigger-link-ensure (folder)
  "Return the link of the workspace of FOLDER, started if need be.
The value is nil if FOLDER is in no workspace of this machine, or
if there is no program to start."
  (when-let ((root (and (not (file-remote-p folder))
                        (funcall outrigger-workspace-function folder)))
             (root (and (not (file-remote-p root))
                        (file-name-as-directory (file-truename root)))))
    (or (seq-find (lambda (link) (string= (outrigger-link-root link) root)) outrigger-links)
        (when (outrigger-link-program)
          (let ((link (outrigger-link--make root)))
            (push link outrigger-links)
            (clrhash outrigger-link--places)
            (outrigger-link--start link)
            link)))))

;;; Life and death

(defmacro outrigger-link--try (link method &rest body)
  "Run BODY, which sends METHOD over LINK.
A companion that has just died must not fail what the person does.
The log has the kind of the error only: the rest may quote a text."
  (declare (indent 2) (debug t))
  `(condition-case problem
       (progn ,@body)
     (error (outrigger-link-log ,link (format "cannot send %s: %s" ,method (car problem))))))

(defvar outrigger-link--told-missing nil
  "Whether the person was told that there is no program.")

(defun outrigger-link-program ()
  "Return the path of the program, or nil after saying once how to get it."
  (let ((program (executable-find outrigger-program)))
    (unless (or program outrigger-link--told-missing)
      (setq outrigger-link--told-missing t)
      (display-warning
       'outrigger
       (format-message "there is no program `%s'.  Install it with `cargo install --git \
https://github.com/outrigger-dev/outrigger outrigger', or set `outrigger-program'"
                       outrigger-program)))
    program))

(defun outrigger-link-stop (link)
  "End the companion of LINK for good."
  (setq outrigger-links (remq link outrigger-links))
  (clrhash outrigger-link--places)
  (outrigger-link--end link))

(defun outrigger-link-restart (link)
  "Start the companion of LINK again, with all that is pending."
  (outrigger-link--end link)
  (setf (outrigger-link-failures link) 0)
  (outrigger-link--start link))

(defun outrigger-link--start (link)
  "Start the companion of LINK."
  (when-let ((program (outrigger-link-program)))
    (let* ((default-directory (outrigger-link-root link))
           (name (format "outrigger %s" (abbreviate-file-name default-directory)))
           (errors (make-pipe-process
                    :name (concat name " errors") :noquery t :sentinel #'ignore
                    :filter (lambda (_ text) (outrigger-link-log link (string-trim text)))))
           (process (make-process
                     :name name :noquery t :connection-type 'pipe
                     :coding 'utf-8-emacs-unix :stderr errors
                     :command `(,program "lsp" ,@outrigger-arguments)))
           (connection (apply #'make-instance 'jsonrpc-process-connection
                              :name name :process process
                              :request-dispatcher (outrigger-link--dispatcher link)
                              :notification-dispatcher (outrigger-link--listener link)
                              :on-shutdown (lambda (connection)
                                             (outrigger-link--sweep connection process errors)
                                             (outrigger-link--died link connection))
                              (outrigger-link--no-events))))
      (setf (outrigger-link-connection link) connection
            (outrigger-link-process link) process
            (outrigger-link-state link) 'starting
            (outrigger-link-born link) (float-time))
      (outrigger-link--try link :initialize
        (jsonrpc-async-request
         connection :initialize (outrigger-link--hello link)
         :timeout nil
         :success-fn (lambda (result) (outrigger-link--welcome link connection result))
         :error-fn (lambda (problem)
                     (outrigger-link--refuse link (plist-get problem :message))))))))

(defun outrigger-link--no-events ()
  "Return the arguments that keep jsonrpc from logging what is said.
The conversation holds the person's texts, and secrets."
  (if (slot-exists-p 'jsonrpc-connection '-events-buffer-config)
      '(:events-buffer-config (:size 0 :format full))
    '(:events-buffer-scrollback-size 0)))

(defun outrigger-link--hello (link)
  "Return the parameters of the first request on LINK."
  (let ((root (outrigger-link-root link)))
    `(:processId ,(emacs-pid)
      :clientInfo (:name "Emacs" :version ,emacs-version)
      :workspaceFolders [(:uri ,(outrigger-link-uri root)
                          :name ,(file-name-nondirectory (directory-file-name root)))]
      :capabilities (:general (:positionEncodings ["utf-8"])
                     :experimental (:outrigger t))
      :initializationOptions (,@(and outrigger-agents `(:agents ,(vconcat outrigger-agents)))
                              :ignore ,(vconcat outrigger-ignore)
                              ,@(and outrigger-daemon '(:daemon t))))))

(defun outrigger-link--welcome (link connection result)
  "Take note of what the companion of LINK can do, if CONNECTION is still its own.
RESULT is the answer to `outrigger-link--hello'."
  (when (eq connection (outrigger-link-connection link))
    (let* ((offers (plist-get result :capabilities))
           (protocol (plist-get (plist-get (plist-get offers :experimental) :outrigger) :version)))
      (setf (outrigger-link-server link) (plist-get (plist-get result :serverInfo) :version))
      (if (not (eql protocol outrigger-link--protocol))
          (outrigger-link--refuse
           link
           (format "outrigger %s speaks version %s of the editor protocol and this package version %s; \
update the older one"
                   (outrigger-link-server link) protocol outrigger-link--protocol))
        (let ((paused (outrigger-link-paused-p link)))
          (setf (outrigger-link-state link) 'ready)
          (outrigger-link-notify link :initialized nil)
          ;; A companion that died has forgotten it, and nothing may be told before it knows.
          (when paused
            (outrigger-link-notify link :outrigger/pause '(:paused t)))
          (run-hook-with-args 'outrigger-link-ready-functions link))))))

(defun outrigger-link--refuse (link why)
  "Give LINK up, and tell the person WHY."
  ;; The death of the process is told, and mended, elsewhere.
  (when (process-live-p (outrigger-link-process link))
    (outrigger-link--end link)
    (setf (outrigger-link-state link) 'refused)
    (outrigger-link-log link why)
    (display-warning 'outrigger why)))

(defun outrigger-link--end (link)
  "End the process of LINK, and do not start it again."
  (let ((connection (outrigger-link-connection link))
        (timer (outrigger-link-timer link)))
    (setf (outrigger-link-state link) 'stopped
          (outrigger-link-connection link) nil
          (outrigger-link-environment link) nil)
    (when timer
      (cancel-timer timer))
    (when (and connection (jsonrpc-running-p connection))
      (ignore-errors
        (jsonrpc-request connection :shutdown nil :timeout 2)
        (jsonrpc-notify connection :exit nil)
        (let ((patience 20))
          (while (and (jsonrpc-running-p connection) (> (cl-decf patience) 0))
            (accept-process-output (outrigger-link-process link) 0.1))))
      (jsonrpc-shutdown connection))))

(defun outrigger-link--sweep (connection process errors)
  "Remove what is left of CONNECTION, its PROCESS and the pipe with its ERRORS."
  ;; Its last words may say why.
  (while (accept-process-output errors 0.05))
  (delete-process errors)
  (dolist (buffer (list (process-buffer process) (jsonrpc-events-buffer connection)
                        (jsonrpc-stderr-buffer connection)))
    (when (buffer-live-p buffer)
      (kill-buffer buffer))))

(defun outrigger-link--died (link connection)
  "Start the companion of LINK again if it was CONNECTION that died."
  (when (eq connection (outrigger-link-connection link))
    (let* ((sound (> (- (float-time) (outrigger-link-born link)) outrigger-link--longest-wait))
           (failures (if sound 0 (outrigger-link-failures link)))
           (wait (min (expt 2 failures) outrigger-link--longest-wait)))
      (outrigger-link-log link (format "the companion ended; starting it again in %ds" wait))
      (when (zerop failures)
        (message "Outrigger ended unexpectedly and is started again; %s says more"
                 (substitute-command-keys "\\[outrigger-log]")))
      (setf (outrigger-link-state link) 'waiting
            (outrigger-link-connection link) nil
            (outrigger-link-failures link) (1+ failures)
            (outrigger-link-timer link)
            (run-with-timer wait nil #'outrigger-link--start link))
      (force-mode-line-update t))))

;;; Talking

(defun outrigger-link-ready-p (link)
  "Return non-nil if LINK can be talked to."
  (and (eq (outrigger-link-state link) 'ready)
       (jsonrpc-running-p (outrigger-link-connection link))))

(defun outrigger-link-notify (link method params)
  "Tell the companion of LINK of METHOD with PARAMS, if it is there to listen."
  (when (outrigger-link-ready-p link)
    (outrigger-link--try link method
      (jsonrpc-notify (outrigger-link-connection link) method params))))

(defun outrigger-link-ask (link method params &optional answer failed)
  "Ask the companion of LINK for METHOD with PARAMS.
ANSWER is called with its result.  An error is shown to the person,
and FAILED is called with it."
  (unless (outrigger-link-ready-p link)
    (user-error "Outrigger is not running for %s; %s says why" (outrigger-link-root link)
                (substitute-command-keys "\\[outrigger-log]")))
  (jsonrpc-async-request
   (outrigger-link-connection link) method params
   :success-fn (or answer #'ignore)
   :error-fn (lambda (problem)
               (message "Outrigger: %s" (plist-get problem :message))
               (when failed
                 (funcall failed (plist-get problem :message))))))

(defun outrigger-link-call (link method params)
  "Return what the companion of LINK answers to METHOD with PARAMS.
The value is nil if it does not answer in a moment."
  (when (outrigger-link-ready-p link)
    (ignore-errors
      (jsonrpc-request (outrigger-link-connection link) method params :timeout 1))))

(defun outrigger-link--dispatcher (link)
  "Return the function that hands what LINK hears to its handlers."
  (lambda (_connection method params)
    (outrigger-link-handle link method params)))

(defun outrigger-link--listener (link)
  "Return the function that hands what LINK is told to its handlers.
One that fails must not keep the next message from being heard."
  (lambda (_connection method params)
    (condition-case problem
        (outrigger-link-handle link method params)
      (error (outrigger-link-log link (format "cannot take in %s: %s" method (car problem)))))))

(cl-defmethod outrigger-link-handle (_link method _params)
  "Refuse METHOD, which nobody knows."
  (jsonrpc-error :code -32601 :message (format "there is no method %s" method)))

(cl-defmethod outrigger-link-handle (link (_method (eql 'outrigger/ready)) params)
  "Keep what PARAMS say about LINK."
  (setf (outrigger-link-port link) (plist-get params :port)
        (outrigger-link-environment link)
        (cl-loop for (name value) on (plist-get params :environment) by #'cddr
                 collect (concat (substring (symbol-name name) 1) "=" value)))
  (outrigger-link-log link (format "ready on port %s" (outrigger-link-port link)))
  (let ((default-directory (outrigger-link-root link)))
    (run-hooks 'outrigger-ready-hook)))

(cl-defmethod outrigger-link-handle (link (_method (eql 'outrigger/status)) params)
  "Keep PARAMS, the new status of LINK."
  (setf (outrigger-link-status link) params)
  (force-mode-line-update t))

(cl-defmethod outrigger-link-handle (_link (_method (eql 'window/showMessage)) params)
  "Show the message in PARAMS to the person."
  (message "Outrigger: %s" (plist-get params :message)))

(cl-defmethod outrigger-link-handle (link (_method (eql 'window/logMessage)) params)
  "Write the message in PARAMS to the log of LINK."
  (outrigger-link-log link (plist-get params :message)))

(defun outrigger-link-paused-p (link)
  "Return non-nil if agents are told nothing over LINK."
  (eq (plist-get (outrigger-link-status link) :paused) t))

(defun outrigger-link-connected (link)
  "Return the names of the agents that are connected over LINK."
  (cl-loop for agent across (or (plist-get (outrigger-link-status link) :agents) [])
           when (eq (plist-get agent :connected) t)
           collect (string-trim (format "%s %s" (plist-get agent :name)
                                        (or (plist-get agent :version) "")))))

;;; The wire and the log

(defun outrigger-link-uri (file)
  "Return the URI of FILE."
  (let ((bytes (encode-coding-string (expand-file-name file)
                                     (or file-name-coding-system default-file-name-coding-system
                                         'utf-8))))
    (concat "file://" (if (string-prefix-p "/" bytes) "" "/")
            (url-hexify-string bytes (cons ?/ url-unreserved-chars)))))

(defconst outrigger-link--log "*outrigger-log*"
  "The name of the buffer with the log.")

(defconst outrigger-link--longest-log 200000
  "How many characters of the log are kept.")

(defun outrigger-link-log-buffer ()
  "Return the buffer with the log."
  (or (get-buffer outrigger-link--log)
      (with-current-buffer (get-buffer-create outrigger-link--log)
        (special-mode)
        (buffer-disable-undo)
        (current-buffer))))

(defun outrigger-link-log (link text)
  "Write TEXT to the log as something that happened to LINK."
  (with-current-buffer (outrigger-link-log-buffer)
    (let ((inhibit-read-only t)
          (following (= (point) (point-max))))
      (save-excursion
        (goto-char (point-max))
        (insert (format-time-string "%T ")
                (abbreviate-file-name (outrigger-link-root link)) "  " text "\n")
        (when (> (buffer-size) outrigger-link--longest-log)
          (delete-region (point-min) (/ (buffer-size) 2))))
      (when following
        (goto-char (point-max))))))

(provide 'outrigger-link)
;;; outrigger-link.el ends here
