;;; outrigger-command.el --- Commands about the companion  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What the person can ask of a companion.  The commands that decide a proposal
;; are in outrigger-proposals.el.

;;; Code:

(require 'outrigger-status)
(require 'outrigger-workspace)

;;;###autoload
(defun outrigger-status ()
  "Say which agents are connected and what is pending."
  (interactive)
  (let ((companion (outrigger-workspace-here)))
    (outrigger-companion-request
     companion :outrigger/status nil
     (lambda (status)
       (setf (outrigger-companion-status companion) status)
       (message "%s" (outrigger-status-of companion))))))

;;;###autoload
(defun outrigger-pause ()
  "Tell agents nothing of what is open.  Their proposals still come."
  (interactive)
  (outrigger-command--pause t))

;;;###autoload
(defun outrigger-resume ()
  "Tell agents again what is open."
  (interactive)
  (outrigger-command--pause :json-false))

(defun outrigger-command--pause (paused)
  "Pause if PAUSED is t, and resume if it is `:json-false'."
  (outrigger-companion-request
   (outrigger-workspace-here) :outrigger/pause (list :paused paused)
   (lambda (_) (message (if (eq paused t)
                            "Paused: agents see nothing open"
                          "Resumed: agents see what is open")))))

;;;###autoload
(defun outrigger-log ()
  "Show what has happened."
  (interactive)
  (pop-to-buffer (outrigger-log-buffer)))

;;;###autoload
(defun outrigger-restart ()
  "Start the companion of this workspace again; what is pending stays so."
  (interactive)
  (outrigger-companion-restart (outrigger-workspace-here)))

(provide 'outrigger-command)
;;; outrigger-command.el ends here
