;;; outrigger-diagnostics.el --- What tools say about documents  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What Flymake and Flycheck say, reported as it is.

;;; Code:

(require 'outrigger-documents)

(declare-function flymake-diagnostics "flymake")
(declare-function flymake-diagnostic-beg "flymake")
(declare-function flymake-diagnostic-end "flymake")
(declare-function flymake-diagnostic-type "flymake")
(declare-function flymake-diagnostic-text "flymake")
(declare-function flycheck-error-level "ext:flycheck")
(declare-function flycheck-error-message "ext:flycheck")
(declare-function flycheck-error-region-for-mode "ext:flycheck")
(defvar flymake-mode)
(defvar flycheck-mode)
(defvar flycheck-current-errors)

(defun outrigger-diagnostics--report (document shown)
  "Report what tools say about DOCUMENT in the buffer SHOWN.
Nothing is sent if it was sent before."
  (with-current-buffer (or (buffer-base-buffer shown) shown)
    (let ((diagnostics (append (outrigger-diagnostics--flymake) (outrigger-diagnostics--flycheck))))
      (unless (equal diagnostics (outrigger-document-diagnostics document))
        (setf (outrigger-document-diagnostics document) diagnostics)
        (outrigger-companion-notify
         (outrigger-document-companion document) :outrigger/diagnosticsChanged
         `(:uri ,(outrigger-document-uri document) :diagnostics ,(vconcat diagnostics)))))))

(add-hook 'outrigger-documents-report-functions #'outrigger-diagnostics--report t)

(defun outrigger-diagnostics--flymake ()
  "Return the diagnostics of Flymake for this buffer."
  (when (bound-and-true-p flymake-mode)
    (cl-loop for problem in (flymake-diagnostics)
             for type = (flymake-diagnostic-type problem)
             collect (list :range (outrigger-position-range (flymake-diagnostic-beg problem)
                                                            (flymake-diagnostic-end problem))
                           :severity (pcase (or (get type 'flymake-category) type)
                                       ((or :error 'flymake-error) 1)
                                       ((or :warning 'flymake-warning) 2)
                                       (_ 3))
                           :message (outrigger-text-clean (flymake-diagnostic-text problem))))))

(defun outrigger-diagnostics--flycheck ()
  "Return the diagnostics of Flycheck for this buffer."
  (when (bound-and-true-p flycheck-mode)
    (cl-loop for problem in flycheck-current-errors
             for (start . end) = (flycheck-error-region-for-mode problem 'symbols)
             when start
             collect (list :range (outrigger-position-range start end)
                           :severity (pcase (flycheck-error-level problem)
                                       ('error 1)
                                       ('warning 2)
                                       (_ 3))
                           :message (outrigger-text-clean (or (flycheck-error-message problem) ""))))))

(provide 'outrigger-diagnostics)
;;; outrigger-diagnostics.el ends here
