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

(require 'outrigger-chat)
(require 'outrigger-command)
(require 'outrigger-companion)
(require 'outrigger-config)
(require 'outrigger-diagnostics)
(require 'outrigger-diff)
(require 'outrigger-documents)
(require 'outrigger-ediff)
(require 'outrigger-environment)
(require 'outrigger-health)
(require 'outrigger-page)
(require 'outrigger-proposals)
(require 'outrigger-selection)
(require 'outrigger-status)

(defvar outrigger-mode-line '(:eval (outrigger-mode-line))
  "What the mode line shows of `outrigger-mode'.")
(put 'outrigger-mode-line 'risky-local-variable t)

;;;###autoload
(define-minor-mode outrigger-mode
  "Let terminal coding agents see what is open, and review their edits.
There is one companion for each workspace: each project with a
file or a Dired buffer open.  It ends with this mode, or with Emacs.

In the mode line, after \"Outr\": the number of connected agents,
\"!\" and the number of proposals that are pending, \"=\" while
paused, \"-\" while the companion does not run."
  :global t
  :group 'outrigger
  :lighter outrigger-mode-line
  (if outrigger-mode
      (outrigger--start)
    (outrigger--stop)))

(defun outrigger--start ()
  "Start what `outrigger-mode' does."
  (add-hook 'outrigger-companion-running-functions #'outrigger-proposals-keep-pending)
  (add-hook 'outrigger-companion-running-functions #'outrigger-chat-resume)
  (add-hook 'server-after-make-frame-hook #'outrigger-proposals-show-first)
  (add-hook 'kill-emacs-hook #'outrigger--leave)
  (outrigger-environment-start)
  (outrigger-documents-start))

(defun outrigger--stop ()
  "End what `outrigger-mode' does."
  (outrigger-documents-stop)
  (outrigger-environment-stop)
  (remove-hook 'kill-emacs-hook #'outrigger--leave)
  (remove-hook 'server-after-make-frame-hook #'outrigger-proposals-show-first)
  (remove-hook 'outrigger-companion-running-functions #'outrigger-chat-resume)
  (remove-hook 'outrigger-companion-running-functions #'outrigger-proposals-keep-pending)
  (outrigger-proposals-forget-all)
  (mapc #'outrigger-companion-stop outrigger-companions))

(defun outrigger--leave ()
  "Leave all companions, because Emacs closes."
  (mapc #'outrigger-companion-leave outrigger-companions))

(provide 'outrigger)
;;; outrigger.el ends here
