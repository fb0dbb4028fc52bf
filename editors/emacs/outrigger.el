;;; outrigger.el --- IDE mode of terminal coding agents  -*- lexical-binding: t; -*-

;; Author: The Outrigger authors
;; URL: https://github.com/outrigger-dev/outrigger
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, processes, convenience
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Terminal coding agents have an IDE mode: they see what you have open, and
;; show every edit for you to accept or reject before it is written.  With
;; this package and the program `outrigger' they do so in Emacs.
;;
;;     (outrigger-mode 1)
;;
;; Start an agent in a terminal, inside Emacs or not, in a folder of the
;; project.  It connects by itself.  What it wants to change is shown as a
;; diff: C-c C-c accepts, C-c C-k rejects.

;;; Code:

(require 'compile)
(require 'outrigger-link)
(require 'outrigger-sync)
(require 'outrigger-review)
(require 'outrigger-diff)
(require 'outrigger-chat)

;;; The mode

(defvar outrigger-mode-line '(:eval (outrigger-mode-line))
  "What the mode line shows of `outrigger-mode'.")
(put 'outrigger-mode-line 'risky-local-variable t)

;;;###autoload
(define-minor-mode outrigger-mode
  "Let terminal coding agents see what is open, and review their edits.
There is one companion for each workspace: each project with a
file or a Dired buffer open.  It ends with this mode, or with Emacs.

In the mode line, after \"Outr\": the number of connected agents,
\"!\" and the number of proposals that wait for you, \"=\" while
agents are told nothing, \"-\" while the companion does not run."
  :global t
  :group 'outrigger
  :lighter outrigger-mode-line
  (if outrigger-mode
      (outrigger--start)
    (outrigger--stop)))

(defun outrigger--start ()
  "Start what `outrigger-mode' does."
  (add-hook 'outrigger-link-ready-functions #'outrigger-review-forget-lost)
  (add-hook 'outrigger-link-ready-functions #'outrigger-chat-resume)
  (add-hook 'server-after-make-frame-hook #'outrigger--show-first)
  (outrigger--lend-environment t)
  (outrigger-sync-start))

(defun outrigger--stop ()
  "End what `outrigger-mode' does."
  (outrigger-sync-stop)
  (outrigger--lend-environment nil)
  (remove-hook 'server-after-make-frame-hook #'outrigger--show-first)
  (remove-hook 'outrigger-link-ready-functions #'outrigger-chat-resume)
  (remove-hook 'outrigger-link-ready-functions #'outrigger-review-forget-lost)
  (outrigger-review-forget-all)
  (mapc #'outrigger-link-stop outrigger-links))

(defun outrigger--show-first ()
  "Show what came while the daemon had no frame to show it in."
  (when outrigger-reviews
    (outrigger-review-show (car outrigger-reviews) nil)))

(defun outrigger-mode-line ()
  "Return the text in the mode line for the workspace of this buffer."
  (if-let ((link (outrigger-link-at default-directory)))
      (let ((agents (length (outrigger-link-connected link)))
            (pending (plist-get (outrigger-link-status link) :pending)))
        (concat " Outr"
                (unless (outrigger-link-ready-p link) "-")
                (when (outrigger-link-paused-p link) "=")
                (unless (zerop agents) (number-to-string agents))
                (unless (zerop (or pending 0)) (format "!%d" pending))))
    ""))

;;; Terminals

(defconst outrigger--terminal-hooks
  '(comint-mode-hook eat-mode-hook eshell-mode-hook term-mode-hook)
  "Hooks that run in the buffer of a terminal before its program is started.")

(defun outrigger--lend-environment (lend)
  "Have new terminals find the companion if LEND is non-nil."
  (dolist (hook outrigger--terminal-hooks)
    (if lend
        (add-hook hook #'outrigger--set-local-environment)
      (remove-hook hook #'outrigger--set-local-environment)))
  (if lend
      (add-function :before (default-value 'compilation-process-setup-function)
                    #'outrigger--set-environment)
    (remove-function (default-value 'compilation-process-setup-function)
                     #'outrigger--set-environment))
  ;; `vterm-mode' starts its program before any of its hooks.
  (if lend
      (advice-add 'vterm-mode :around #'outrigger--with-environment)
    (advice-remove 'vterm-mode #'outrigger--with-environment)))

(defun outrigger--environment ()
  "Return the environment for programs in this buffer's folder."
  (let ((link (outrigger-link-at default-directory)))
    (append (and link (outrigger-link-environment link)) process-environment)))

(defun outrigger--set-environment ()
  "Have programs that are started now find the companion."
  (setq process-environment (outrigger--environment)))

(defun outrigger--set-local-environment ()
  "Have programs that are started from this buffer find the companion."
  (make-local-variable 'process-environment)
  (outrigger--set-environment))

(defun outrigger--with-environment (function &rest arguments)
  "Call FUNCTION with ARGUMENTS in the environment of the companion."
  (let ((process-environment (outrigger--environment)))
    (apply function arguments)))

;;; Commands

(defun outrigger--link ()
  "Return the link that the person means: this buffer's, or the only one."
  (or (outrigger-link-at default-directory)
      (pcase outrigger-links
        (`(,only) only)
        ('nil (user-error "Outrigger serves no workspace; `outrigger-health' says why"))
        (_ (user-error "This buffer is in no workspace that Outrigger serves")))))

;;;###autoload
(defun outrigger-status ()
  "Say which agents are connected and what waits for a decision."
  (interactive)
  (let ((link (outrigger--link)))
    (outrigger-link-ask
     link :outrigger/status nil
     (lambda (status)
       (setf (outrigger-link-status link) status)
       (message "%s" (outrigger--describe link))))))

(defun outrigger--describe (link)
  "Return a sentence about LINK."
  (let* ((status (outrigger-link-status link))
         (agents (outrigger-link-connected link))
         (held-back (or (plist-get status :heldBack) 0)))
    (concat (abbreviate-file-name (outrigger-link-root link)) ": "
            (if agents (string-join agents ", ") "no agent connected")
            (format "; %d pending" (or (plist-get status :pending) 0))
            (unless (zerop held-back) (format "; %d held back" held-back))
            (when (outrigger-link-paused-p link) "; paused"))))

;;;###autoload
(defun outrigger-pause ()
  "Tell agents nothing of what is open.  Their proposals still come."
  (interactive)
  (outrigger--pause t))

;;;###autoload
(defun outrigger-resume ()
  "Tell agents again what is open."
  (interactive)
  (outrigger--pause :json-false))

(defun outrigger--pause (paused)
  "Set whether agents are told nothing to PAUSED."
  (outrigger-link-ask
   (outrigger--link) :outrigger/pause (list :paused paused)
   (lambda (_) (message (if (eq paused t)
                            "Agents are told nothing now"
                          "Agents are told what is open again")))))

;;;###autoload
(defun outrigger-log ()
  "Show what has happened."
  (interactive)
  (pop-to-buffer (outrigger-link-log-buffer)))

;;;###autoload
(defun outrigger-restart ()
  "Start the companion of this workspace again; what is pending stays so."
  (interactive)
  (outrigger-link-restart (outrigger--link)))

;;;###autoload
(defun outrigger-open-page ()
  "Open the page with all proposals in a browser."
  (interactive)
  (outrigger-link-ask (outrigger--link) :outrigger/page nil
                      (lambda (page) (browse-url (plist-get page :url)))))

;;; Health

;;;###autoload
(defun outrigger-health ()
  "Say whether everything is as it has to be, and what to do if not."
  (interactive)
  (let ((report (outrigger--health)))
    (with-current-buffer (get-buffer-create "*outrigger-health*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (pcase-dolist (`(,good ,what ,how) report)
          (insert (propertize (if good "ok   " "FIX  ") 'face (if good 'success 'error))
                  what
                  (if (or good (not how)) "" (concat "\n     " how))
                  "\n"))
        (goto-char (point-min)))
      (special-mode)
      (pop-to-buffer (current-buffer)))))

(defun outrigger--health ()
  "Return a list of what was looked at, each (GOOD WHAT HOW-TO-MEND)."
  (let ((program (executable-find outrigger-program)))
    `((,outrigger-mode "outrigger-mode is on" "say M-x outrigger-mode")
      (,program
       ,(if program (format "%s is %s" program (outrigger--version program))
          (format "there is no program %s" outrigger-program))
       "install it, or set outrigger-program")
      (,(executable-find diff-command)
       ,(format "diffs are made with %s" diff-command)
       "install it, or set diff-command")
      (,outrigger-links
       ,(format "%d workspaces are served" (length outrigger-links))
       "open a file of a project; see outrigger-workspace-function")
      ,@(mapcan #'outrigger--link-health outrigger-links))))

(defun outrigger--version (program)
  "Return the version of PROGRAM, in its own words."
  (with-temp-buffer
    (call-process program nil t nil "--version")
    (string-trim (buffer-string))))

(defun outrigger--link-health (link)
  "Return what was looked at about LINK."
  (let ((root (abbreviate-file-name (outrigger-link-root link)))
        (ready (outrigger-link-ready-p link)))
    `((,ready
       ,(if ready
            (format "%s: outrigger %s on port %s" root (outrigger-link-server link)
                    (outrigger-link-port link))
          (format "%s: the companion is %s" root (outrigger-link-state link)))
       "M-x outrigger-log says why; M-x outrigger-restart starts it")
      ,@(when ready
          `((,(not (outrigger-link-paused-p link))
             ,(outrigger--describe link)
             "M-x outrigger-resume tells agents what is open"))))))

(provide 'outrigger)
;;; outrigger.el ends here
