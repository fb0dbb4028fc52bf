;;; outrigger-status.el --- How things stand, in words  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The state of a companion, and what it says of agents and proposals.  The
;; words for that are its own.

;;; Code:

(require 'outrigger-workspace)

(defun outrigger-status-of (companion)
  "Return a line about COMPANION."
  (format "%s: %s" (abbreviate-file-name (outrigger-companion-root companion))
          (if (outrigger-companion-running-p companion)
              (or (plist-get (outrigger-companion-status companion) :summary) "running")
            (format "the companion is %s" (outrigger-status-state companion)))))

(defun outrigger-status-state (companion)
  "Return the state of COMPANION in words."
  (let ((state (outrigger-companion-state companion)))
    (if (eq state 'failed) "failed (given up)" (symbol-name state))))

(defun outrigger-mode-line ()
  "Return the text in the mode line for the workspace of this buffer.
What a companion that does not run has said last is no news."
  (if-let ((companion (outrigger-workspace-companion default-directory)))
      (if (not (outrigger-companion-running-p companion))
          " Outr-"
        (let* ((status (outrigger-companion-status companion))
               (agents (seq-count (lambda (agent) (eq (plist-get agent :connected) t))
                                  (plist-get status :agents)))
               (pending (or (plist-get status :pending) 0)))
          (concat " Outr"
                  (when (outrigger-companion-paused-p companion) "=")
                  (unless (zerop agents) (number-to-string agents))
                  (unless (zerop pending) (format "!%d" pending)))))
    ""))

(provide 'outrigger-status)
;;; outrigger-status.el ends here
