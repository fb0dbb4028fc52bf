;;; outrigger-workspace.el --- Which folders agents have to be in  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A workspace is a folder with a companion of its own: a project, unless
;; `outrigger-workspace-function' says otherwise.

;;; Code:

(require 'project)
(require 'outrigger-companion)

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

(defvar outrigger-workspace--cache (make-hash-table :test #'equal)
  "Which companion each folder has, as far as it was asked for.
The mode line asks all the time.")

(defun outrigger-workspace--forget ()
  "Forget which companion each folder has."
  (clrhash outrigger-workspace--cache))

(add-hook 'outrigger-companions-changed-hook #'outrigger-workspace--forget)

(defun outrigger-workspace-companion (folder)
  "Return the companion of the innermost workspace that FOLDER is in, or nil."
  (let ((known (gethash folder outrigger-workspace--cache 'unknown)))
    (if (eq known 'unknown)
        (puthash folder (outrigger-workspace--find folder) outrigger-workspace--cache)
      known)))

(defun outrigger-workspace--find (folder)
  "Find the companion of the innermost workspace that FOLDER is in."
  (unless (file-remote-p folder)
    (let* ((folder (file-name-as-directory (file-truename folder)))
           (around (seq-filter (lambda (companion)
                                 (string-prefix-p (outrigger-companion-root companion) folder))
                               outrigger-companions)))
      (car (seq-sort-by (lambda (companion) (length (outrigger-companion-root companion)))
                        #'> around)))))

(defun outrigger-workspace-ensure (folder)
  "Return the companion of the workspace of FOLDER, started if need be.
The value is nil if FOLDER is in no workspace of this machine, or
if there is no program to start."
  (when-let ((root (and (not (file-remote-p folder))
                        (funcall outrigger-workspace-function folder)))
             (root (and (not (file-remote-p root))
                        (file-name-as-directory (file-truename root)))))
    (or (seq-find (lambda (companion) (string= (outrigger-companion-root companion) root))
                  outrigger-companions)
        (outrigger-companion-add root))))

(defun outrigger-workspace-here ()
  "Return the companion that the person means: this buffer's, or the only one."
  (or (outrigger-workspace-companion default-directory)
      (pcase outrigger-companions
        (`(,only) only)
        ('nil (user-error "Outrigger serves no workspace; see `outrigger-health'"))
        (_ (user-error "This buffer is in no workspace that Outrigger serves")))))

(provide 'outrigger-workspace)
;;; outrigger-workspace.el ends here
