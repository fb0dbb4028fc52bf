;;; outrigger-lint.el --- Checks the package as MELPA does  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; `outrigger-lint' byte-compiles every file, out of the way, and runs checkdoc
;; and package-lint.  Any complaint ends it with a status other than 0.

;;; Code:

(require 'bytecomp)
(require 'checkdoc)
(require 'package-lint)
(require 'seq)

(defconst outrigger-lint--tests (file-name-directory load-file-name)
  "Where this file is.")

(defconst outrigger-lint--package (file-name-directory (directory-file-name outrigger-lint--tests))
  "Where the package is.")

(defun outrigger-lint ()
  "Check every file of the package, and end Emacs."
  (let* ((shipped (directory-files outrigger-lint--package t "\\.el\\'"))
         (files (append shipped (directory-files outrigger-lint--tests t "\\.el\\'")))
         (outcomes (append (mapcar #'outrigger-lint--compile files)
                           (mapcar #'outrigger-lint--checkdoc files)
                           (mapcar #'outrigger-lint--package-lint shipped))))
    (kill-emacs (if (seq-every-p #'identity outcomes) 0 1))))

(defun outrigger-lint--compile (file)
  "Compile FILE; return nil after a complaint."
  (let* ((folder (make-temp-file "outrigger-lint" t))
         (load-path (cons outrigger-lint--package load-path))
         (byte-compile-error-on-warn t)
         (byte-compile-dest-file-function
          (lambda (_) (expand-file-name "compiled.elc" folder))))
    (unwind-protect
        (byte-compile-file file)
      (delete-directory folder t))))

(defun outrigger-lint--checkdoc (file)
  "Run checkdoc on FILE; return nil after a complaint."
  (let* ((good t)
         (checkdoc-create-error-function
          (lambda (text start _end &optional _unfixable)
            (setq good nil)
            (message "%s:%d: %s" (file-name-nondirectory file)
                     (line-number-at-pos (or start (point-min)) t) text)
            nil)))
    (with-current-buffer (find-file-noselect file)
      (checkdoc-current-buffer t))
    good))

(defun outrigger-lint--package-lint (file)
  "Run `package-lint' on FILE; return nil after a complaint."
  (let ((package-lint-main-file (expand-file-name "outrigger.el" outrigger-lint--package)))
    (with-current-buffer (find-file-noselect file)
      ;; The linter of a distribution may be older than the oldest Emacs that the package is for.
      (let ((complaints (seq-remove (lambda (it) (string-search "all released" (nth 3 it)))
                                    (package-lint-buffer))))
        (pcase-dolist (`(,line ,_ ,_ ,text) complaints)
          (message "%s:%d: %s" (file-name-nondirectory file) line text))
        (null complaints)))))

(provide 'outrigger-lint)
;;; outrigger-lint.el ends here
