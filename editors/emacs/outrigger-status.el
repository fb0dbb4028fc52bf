;;; outrigger-status.el --- How things stand, in words  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The state of a companion, and what it says of agents and proposals.  The
;; words are the same in all plugins and on the page, see editors/README.md.

;;; Code:

(require 'outrigger-workspace)

(defun outrigger-status--agents (status connected)
  "Return the agents in STATUS; those that are connected, if CONNECTED."
  (seq-filter (lambda (agent)
                (or (not connected) (eq (plist-get agent :connected) t)))
              (plist-get status :agents)))

(defun outrigger-status--agent (agent)
  "Return AGENT with its version, and whether it is away."
  (concat (string-trim (format "%s %s" (plist-get agent :name) (or (plist-get agent :version) "")))
          (unless (eq (plist-get agent :connected) t) " (away)")))

(defun outrigger-status-describe (status)
  "Return STATUS in one line."
  (let ((agents (outrigger-status--agents status nil)))
    (concat (if agents
                (mapconcat #'outrigger-status--agent agents ", ")
              "no agent connected")
            (format "; %d pending; %d held back"
                    (or (plist-get status :pending) 0)
                    (or (plist-get status :heldBack) 0))
            (when (eq (plist-get status :paused) t) "; paused"))))

(defun outrigger-status-of (companion)
  "Return a line about COMPANION."
  (format "%s: %s" (abbreviate-file-name (outrigger-companion-root companion))
          (if (outrigger-companion-running-p companion)
              (outrigger-status-describe (outrigger-companion-status companion))
            (format "the companion is %s" (outrigger-status-state companion)))))

(defun outrigger-status-state (companion)
  "Return the state of COMPANION in words."
  (let ((state (outrigger-companion-state companion)))
    (if (eq state 'failed) "failed (given up)" (symbol-name state))))

(defun outrigger-mode-line ()
  "Return the text in the mode line for the workspace of this buffer."
  (if-let ((companion (outrigger-workspace-companion default-directory)))
      (let* ((status (outrigger-companion-status companion))
             (agents (length (outrigger-status--agents status t)))
             (pending (or (plist-get status :pending) 0)))
        (concat " Outr"
                (unless (outrigger-companion-running-p companion) "-")
                (when (outrigger-companion-paused-p companion) "=")
                (unless (zerop agents) (number-to-string agents))
                (unless (zerop pending) (format "!%d" pending))))
    ""))

(provide 'outrigger-status)
;;; outrigger-status.el ends here
