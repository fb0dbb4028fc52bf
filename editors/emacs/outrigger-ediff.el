;;; outrigger-ediff.el --- A proposal in Ediff  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Ediff takes the whole frame, and finds the differences by itself, with the
;; diff program.

;;; Code:

(require 'ediff)
(require 'outrigger-interrupt)
(require 'outrigger-proposals)
(require 'outrigger-review)

(defvar ediff-quit-hook)
(defvar ediff-window-setup-function)
(defvar ediff-keep-variants)

(defun outrigger-diff-ediff (review select)
  "Show REVIEW in Ediff, in this frame.
Ediff takes the whole frame, so unless SELECT is non-nil it waits
until the person may be interrupted."
  (if select
      (outrigger-ediff--start review)
    (unless (outrigger-interrupt-allowed-p)
      (message "%s; %s shows it" (outrigger-review-describe review)
               (substitute-command-keys "\\[outrigger-show]")))
    (outrigger-interrupt-await (lambda ()
                                 (and (memq review outrigger-proposals)
                                      (not (buffer-live-p (outrigger-review-control review)))))
                               (lambda () (outrigger-ediff--start review)))))

(defun outrigger-ediff--start (review)
  "Start an Ediff session for REVIEW, or go to the one there is."
  (let ((control (outrigger-review-control review))
        (view (outrigger-review-view review)))
    (if (buffer-live-p control)
        (with-current-buffer control
          (ediff-recenter))
      (when (buffer-live-p view)
        (outrigger-review-hide view))
      (setf (outrigger-review-windows review) (current-window-configuration))
      (let ((ediff-window-setup-function #'ediff-setup-windows-plain))
        (ediff-buffers (outrigger-review-original review) (outrigger-review-proposed review)
                       (list (lambda () (outrigger-ediff--set-up review))))))))

(defun outrigger-ediff--set-up (review)
  "Make this Ediff control panel part of REVIEW."
  (setf (outrigger-review-control review) (current-buffer))
  (setq outrigger-review-current review)
  (setq-local ediff-window-setup-function #'ediff-setup-windows-plain)
  (add-hook 'ediff-quit-hook #'outrigger-ediff--ended 90 t)
  (local-set-key (kbd "C-c C-c") #'outrigger-accept)
  (local-set-key (kbd "C-c C-k") #'outrigger-reject))

(defun outrigger-ediff--ended ()
  "Give the windows back that the Ediff session of this panel took."
  (let* ((review outrigger-review-current)
         (windows (outrigger-review-windows review)))
    (setf (outrigger-review-control review) nil
          (outrigger-review-windows review) nil)
    (when windows
      (set-window-configuration windows))
    (when (memq review outrigger-proposals)
      (message "Undecided; %s shows it again" (substitute-command-keys "\\[outrigger-show]")))))

(defun outrigger-ediff--quit (review)
  "End the Ediff session of REVIEW, if there is one."
  (let ((control (outrigger-review-control review)))
    (when (buffer-live-p control)
      ;; The person may have gone on to something else, and keeps those windows.
      (unless (get-buffer-window control t)
        (setf (outrigger-review-windows review) nil))
      (with-current-buffer control
        (let ((ediff-keep-variants t))
          (ediff-really-quit nil))))))

(defun outrigger-ediff--revised (review)
  "Compare the texts of REVIEW anew, if they are in Ediff."
  (let ((control (outrigger-review-control review)))
    (when (buffer-live-p control)
      (with-current-buffer control
        (save-window-excursion
          (ediff-update-diffs))))))

(add-hook 'outrigger-review-revised-functions #'outrigger-ediff--revised)
(add-hook 'outrigger-review-ending-functions #'outrigger-ediff--quit)

(provide 'outrigger-ediff)
;;; outrigger-ediff.el ends here
