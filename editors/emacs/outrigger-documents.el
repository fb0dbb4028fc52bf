;;; outrigger-documents.el --- What is open, as the companion has it  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A document is a buffer with a file of a workspace.  This file keeps the
;; companion's copy of each one equal to its buffer, unsaved changes included.
;; What agents get to see of it is the companion's business.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'outrigger-companion)
(require 'outrigger-config)
(require 'outrigger-position)
(require 'outrigger-text)
(require 'outrigger-uri)
(require 'outrigger-workspace)

(defconst outrigger-documents--rest 0.1
  "How long in seconds changes are gathered before they are sent.")

(defconst outrigger-documents--most-changes 100
  "The number of changes above which the whole text is cheaper.")

(cl-defstruct (outrigger-document
               (:constructor outrigger-document--make (companion uri full))
               (:copier nil))
  "What the companion knows of a buffer.
FULL says whether it knows the text.  CHANGES, newest first, were
not sent yet, unless STALE says that the whole text has to be.
TICK is the buffer's at the last change that was seen, and BEFORE
the place of the one that is being made.  SELECTIONS and
DIAGNOSTICS are those that were sent last."
  companion uri full open (version 0) changes stale tick before selections diagnostics)

(defvar-local outrigger-document nil
  "What the companion knows of this buffer, if it knows it at all.")
(put 'outrigger-document 'permanent-local t)

(defvar outrigger-documents-focused nil
  "The document that the companion takes the person to be in.")

(defvar outrigger-documents-report-functions nil
  "Functions that report where the person is.
Each is called with the document in front of the person, and with
the buffer that shows it, which may be an indirect one.")

(defvar outrigger-documents--timer nil
  "The timer that will send what has happened, if anything has.")

(defvar outrigger-documents--idle nil
  "The timer that looks for what comes without notice, such as diagnostics.")

;;; Starting and stopping

(defconst outrigger-documents--hooks
  '((find-file-hook . outrigger-documents-attach)
    (dired-mode-hook . outrigger-documents--ensure)
    (post-command-hook . outrigger-documents-schedule)
    (window-selection-change-functions . outrigger-documents-schedule)
    (window-buffer-change-functions . outrigger-documents-schedule)
    (after-set-visited-file-name-hook . outrigger-documents--rename)
    (flycheck-after-syntax-check-hook . outrigger-documents-schedule)
    (outrigger-companion-running-functions . outrigger-documents-open-all))
  "The hooks that notice what the person does, and what each calls.")

(defconst outrigger-documents--local-hooks
  '((before-change-functions . outrigger-documents--before-change)
    (after-change-functions . outrigger-documents--after-change)
    (after-save-hook . outrigger-documents--save)
    (after-revert-hook . outrigger-documents-schedule)
    (kill-buffer-hook . outrigger-documents-detach))
  "The hooks of a document's buffer, and what each calls.")

(dolist (hook outrigger-documents--local-hooks)
  (put (cdr hook) 'permanent-local-hook t))

(defun outrigger-documents-start ()
  "Share what is open now, and what will be."
  (pcase-dolist (`(,hook . ,function) outrigger-documents--hooks)
    (add-hook hook function))
  (setq outrigger-documents--idle (run-with-idle-timer 1 t #'outrigger-documents-schedule))
  ;; The ones that were used last are opened last.
  (dolist (buffer (reverse (buffer-list)))
    (with-current-buffer buffer
      (outrigger-documents-attach))))

(defun outrigger-documents-stop ()
  "Share nothing any more."
  (pcase-dolist (`(,hook . ,function) outrigger-documents--hooks)
    (remove-hook hook function))
  (dolist (timer (list outrigger-documents--idle outrigger-documents--timer))
    (when timer
      (cancel-timer timer)))
  (setq outrigger-documents--timer nil)
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (outrigger-documents-detach))))

(defun outrigger-documents-attach ()
  "Share this buffer if it visits a file of a workspace on this machine."
  (when (and buffer-file-name
             (not outrigger-document)
             (not (buffer-base-buffer))
             (not (file-remote-p buffer-file-name)))
    (when-let ((companion (outrigger-documents--ensure)))
      (setq outrigger-document
            (outrigger-document--make companion (outrigger-uri buffer-file-name)
                                      (and enable-multibyte-characters
                                           (<= (buffer-size) outrigger-size-limit))))
      (pcase-dolist (`(,hook . ,function) outrigger-documents--local-hooks)
        (add-hook hook function nil t))
      (outrigger-documents--open)
      (outrigger-documents-schedule))))

(defun outrigger-documents--ensure ()
  "Return the companion of this buffer's workspace, started if need be."
  (outrigger-workspace-ensure default-directory))

(defun outrigger-documents-detach ()
  "Share this buffer no longer."
  (when-let ((document outrigger-document))
    (pcase-dolist (`(,hook . ,function) outrigger-documents--local-hooks)
      (remove-hook hook function t))
    (setq outrigger-document nil)
    (when (eq document outrigger-documents-focused)
      (setq outrigger-documents-focused nil))
    (outrigger-documents-notify document :textDocument/didClose)))

(defun outrigger-documents--rename ()
  "Share this buffer under its new name."
  (outrigger-documents-detach)
  (outrigger-documents-attach))

(defun outrigger-documents-open-all (companion)
  "Open every document of COMPANION, which knows none of them yet."
  (setq outrigger-documents-focused nil)
  (dolist (buffer (reverse (buffer-list)))
    (with-current-buffer buffer
      (when (and outrigger-document
                 (eq companion (outrigger-document-companion outrigger-document)))
        (outrigger-documents--open))))
  (outrigger-documents-schedule))

(defun outrigger-documents--open ()
  "Open this buffer in its companion, if there is one by now."
  (let* ((document outrigger-document)
         (full (outrigger-document-full document)))
    (outrigger-position-forget)
    (setf (outrigger-document-open document)
          (outrigger-companion-running-p (outrigger-document-companion document))
          (outrigger-document-selections document) nil
          (outrigger-document-diagnostics document) nil)
    (outrigger-documents--up-to-date document)
    (outrigger-documents-notify
     document :textDocument/didOpen
     :languageId (string-remove-suffix "-mode" (symbol-name major-mode))
     :version (cl-incf (outrigger-document-version document))
     :text (if full (outrigger-text-of-buffer) ""))
    ;; A document is opened as it is on disk.  A change of nothing says that it is not.
    (when (and full (buffer-modified-p))
      (outrigger-documents--notify-changes document []))))

(defun outrigger-documents-notify (document method &rest more)
  "Send METHOD about DOCUMENT, and MORE about the document, to its companion."
  (when (outrigger-document-open document)
    (outrigger-companion-notify
     (outrigger-document-companion document) method
     `(:textDocument (:uri ,(outrigger-document-uri document) ,@more)))))

;;; Changes

(defun outrigger-documents--up-to-date (document)
  "Note that no change of this buffer, DOCUMENT, is left to be sent."
  (setf (outrigger-document-changes document) nil
        (outrigger-document-stale document) nil
        (outrigger-document-before document) nil
        (outrigger-document-tick document) (buffer-chars-modified-tick)))

(defun outrigger-documents--seen-p (document)
  "Return non-nil if every change of this buffer, DOCUMENT, was seen.
Changes can be made with the hooks off, or in an indirect buffer."
  (eql (outrigger-document-tick document) (buffer-chars-modified-tick)))

(defun outrigger-documents--before-change (start end)
  "Remember that the text from START to END is about to change."
  (let ((document outrigger-document))
    (when (and (outrigger-document-open document)
               (outrigger-document-full document)
               (not (outrigger-document-stale document)))
      (outrigger-position-before-change)
      (setf (outrigger-document-before document)
            (and (outrigger-documents--seen-p document)
                 (not (outrigger-position-in-line-end-p start))
                 (not (outrigger-position-in-line-end-p end))
                 (list start (- end start) (outrigger-position-range start end)))))))

(defun outrigger-documents--after-change (start end length)
  "Note that the LENGTH characters at START have become the text up to END."
  (let ((document outrigger-document))
    (when (and (outrigger-document-open document)
               (outrigger-document-full document))
      (pcase (outrigger-document-before document)
        (`(,(pred (eql start)) ,(pred (eql length)) ,range)
         (push (list :range range :text (outrigger-text-of-buffer start end))
               (outrigger-document-changes document)))
        (_ (setf (outrigger-document-stale document) t)))
      (outrigger-position-after-change start)
      (setf (outrigger-document-before document) nil
            (outrigger-document-tick document) (buffer-chars-modified-tick))
      (outrigger-documents-schedule))))

(defun outrigger-documents--flush ()
  "Send what has changed in this buffer."
  (let* ((document outrigger-document)
         (changes (outrigger-document-changes document)))
    (when (and (outrigger-document-open document)
               (outrigger-document-full document))
      (when (or (outrigger-document-stale document)
                (not (outrigger-documents--seen-p document))
                (nthcdr outrigger-documents--most-changes changes))
        (setq changes `((:text ,(outrigger-text-of-buffer))))
        (outrigger-position-forget))
      (outrigger-documents--up-to-date document)
      (when changes
        (outrigger-documents--notify-changes document (vconcat (reverse changes)))
        ;; Undone or reverted: the buffer is as it is on disk again.
        (unless (buffer-modified-p)
          (outrigger-documents-notify document :textDocument/didSave))))))

(defun outrigger-documents--notify-changes (document parts)
  "Send the PARTS of DOCUMENT that are other ones now."
  (when (outrigger-document-open document)
    (outrigger-companion-notify
     (outrigger-document-companion document) :textDocument/didChange
     `(:textDocument (:uri ,(outrigger-document-uri document)
                      :version ,(cl-incf (outrigger-document-version document)))
       :contentChanges ,parts))))

(defun outrigger-documents--save ()
  "Say that this buffer was saved."
  (outrigger-documents--flush)
  (outrigger-documents-notify outrigger-document :textDocument/didSave))

;;; Reports

(defun outrigger-documents-schedule (&rest _)
  "Report soon where the person is and what has changed."
  (unless outrigger-documents--timer
    (setq outrigger-documents--timer
          (run-with-timer outrigger-documents--rest nil #'outrigger-documents-report))))

(defun outrigger-documents-report ()
  "Report where the person is and what has changed.
In a buffer that is no document, a terminal for instance, the
person is still where they were."
  (setq outrigger-documents--timer nil)
  (let* ((shown (window-buffer (selected-window)))
         (buffer (or (buffer-base-buffer shown) shown))
         (document (buffer-local-value 'outrigger-document buffer)))
    (outrigger-documents--flush-all)
    (when (and document (outrigger-document-open document))
      (run-hook-with-args 'outrigger-documents-report-functions document shown))))

(defun outrigger-documents--flush-all ()
  "Send what has changed in any buffer."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and outrigger-document
                 (or (outrigger-document-changes outrigger-document)
                     (outrigger-document-stale outrigger-document)
                     (not (outrigger-documents--seen-p outrigger-document))))
        (outrigger-documents--flush)))))

(provide 'outrigger-documents)
;;; outrigger-documents.el ends here
