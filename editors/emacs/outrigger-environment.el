;;; outrigger-environment.el --- Terminals in which agents find this Emacs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The variables with which agents in a terminal of this Emacs find it before
;; any other.  They are set in each terminal alone: another project has another
;; companion.  They hold secrets and are never logged.

;;; Code:

(require 'compile)
(require 'outrigger-workspace)

(defconst outrigger-environment--hooks
  '(comint-mode-hook eat-mode-hook eshell-mode-hook term-mode-hook)
  "Hooks that run in the buffer of a terminal before its program is started.")

(defun outrigger-environment-start ()
  "Have new terminals find the companion."
  (dolist (hook outrigger-environment--hooks)
    (add-hook hook #'outrigger-environment--set-locally))
  (add-function :before (default-value 'compilation-process-setup-function)
                #'outrigger-environment--set)
  ;; `vterm-mode' starts its program before any of its hooks.
  (advice-add 'vterm-mode :around #'outrigger-environment--around))

(defun outrigger-environment-stop ()
  "Leave new terminals as they are."
  (dolist (hook outrigger-environment--hooks)
    (remove-hook hook #'outrigger-environment--set-locally))
  (remove-function (default-value 'compilation-process-setup-function)
                   #'outrigger-environment--set)
  (advice-remove 'vterm-mode #'outrigger-environment--around))

(defun outrigger-environment--here ()
  "Return the environment for programs in this buffer's folder."
  (let ((companion (outrigger-workspace-companion default-directory)))
    (append (and companion (outrigger-companion-environment companion)) process-environment)))

(defun outrigger-environment--set ()
  "Have programs that are started now find the companion."
  (setq process-environment (outrigger-environment--here)))

(defun outrigger-environment--set-locally ()
  "Have programs that are started from this buffer find the companion."
  (make-local-variable 'process-environment)
  (outrigger-environment--set))

(defun outrigger-environment--around (function &rest arguments)
  "Call FUNCTION with ARGUMENTS in the environment of the companion."
  (let ((process-environment (outrigger-environment--here)))
    (apply function arguments)))

(provide 'outrigger-environment)
;;; outrigger-environment.el ends here
