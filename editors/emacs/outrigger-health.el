;;; outrigger-health.el --- What is needed, what is there, what to do  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The report of `outrigger-health'.

;;; Code:

(require 'outrigger-config)
(require 'outrigger-status)

(defvar diff-command)
(defvar outrigger-mode)

;;;###autoload
(defun outrigger-health ()
  "Say whether everything is as it has to be, and what to do if not."
  (interactive)
  (let ((report (outrigger-health--report)))
    (with-current-buffer (get-buffer-create "*outrigger-health*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (pcase-dolist (`(,good ,what ,advice) report)
          (insert (propertize (if good "ok   " "FIX  ") 'face (if good 'success 'error))
                  what
                  (if (or good (not advice)) "" (concat "\n     " advice))
                  "\n"))
        (goto-char (point-min)))
      (special-mode)
      (pop-to-buffer (current-buffer)))))

(defun outrigger-health--report ()
  "Return a list of what was looked at, each (GOOD WHAT ADVICE)."
  (require 'diff)
  (let ((program (executable-find outrigger-program)))
    `((,outrigger-mode "outrigger-mode is on" "say M-x outrigger-mode")
      (,program
       ,(if program (format "%s is %s" program (outrigger-health--version program))
          (format "there is no program %s" outrigger-program))
       ,(concat "install it with cargo install --path crates/outrigger in a clone of the "
                "repository, or set outrigger-program"))
      (,(executable-find diff-command)
       ,(format "Ediff compares with %s" diff-command)
       "install it, or set diff-command")
      (,outrigger-companions
       ,(format "%d workspaces are served" (length outrigger-companions))
       "open a file of a project; see outrigger-workspace-function")
      ,@(mapcan #'outrigger-health--companion outrigger-companions))))

(defun outrigger-health--version (program)
  "Return the version of PROGRAM, in its own words."
  (with-temp-buffer
    (call-process program nil t nil "--version")
    (string-trim (buffer-string))))

(defun outrigger-health--companion (companion)
  "Return what was looked at about COMPANION."
  (let ((root (abbreviate-file-name (outrigger-companion-root companion)))
        (running (outrigger-companion-running-p companion)))
    `((,running
       ,(if running
            (format "%s: outrigger %s on port %s" root (outrigger-companion-server companion)
                    (outrigger-companion-port companion))
          (outrigger-status-of companion))
       "M-x outrigger-log says why; M-x outrigger-restart starts it")
      ,@(when running
          `((,(not (outrigger-companion-paused-p companion))
             ,(outrigger-status-of companion)
             "M-x outrigger-resume lets agents see what is open")
            ,@(seq-map #'outrigger-health--fault
                       (plist-get (outrigger-companion-status companion) :faults))
            ,@(outrigger-health--agents companion))))))

(defun outrigger-health--fault (fault)
  "Return what is to be said about FAULT, which closes a folder to agents."
  (let ((line (plist-get fault :line))
        (source (plist-get fault :source)))
    (list nil
          (format "agents see nothing of %s: %s: %s"
                  (or (plist-get fault :folder) "any folder")
                  (if line (format "%s:%d:%d" source line (plist-get fault :column)) source)
                  (plist-get fault :message))
          "correct it; the companion reads it again at once")))

(defun outrigger-health--agents (companion)
  "Return what was looked at about the agents of COMPANION."
  (let ((agents (append (plist-get (outrigger-companion-status companion) :agents) nil)))
    (if (null agents)
        ;; Not a fault: the person may not want one now.
        '((t "no agent is connected; start one in the folder: outrigger run -- qwen (or gemini)" nil))
      (mapcar (lambda (agent)
                (list (not (plist-get agent :note)) (plist-get agent :label) (plist-get agent :note)))
              agents))))

(provide 'outrigger-health)
;;; outrigger-health.el ends here
