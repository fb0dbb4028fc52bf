;;; outrigger-sync.el --- What is open, and where the person is  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Keeps the companion's copy of every open file equal to its buffer, unsaved
;; changes included, and says where point and region are.  What agents get to
;; see of it is the companion's business.

;;; Code:

(require 'outrigger-link)

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

(defcustom outrigger-size-limit (* 4 1024 1024)
  "The largest buffer in characters whose text is shared with the companion.
Of a larger one agents only learn the name."
  :type 'natnum
  :group 'outrigger)

(defconst outrigger-sync--rest 0.1
  "How long in seconds things are gathered before they are told.")

(defconst outrigger-sync--most-changes 100
  "The number of changes above which the whole text is cheaper.")

(cl-defstruct (outrigger-sync--document
               (:constructor outrigger-sync--make (link uri full))
               (:copier nil))
  "What the companion knows of a buffer.
FULL says whether it knows the text.  CHANGES, newest first, were
not told yet, unless STALE says that the whole text has to be.
TICK is the buffer's at the last change that was seen, and BEFORE
the place of the one that is being made.  LANDMARK is a place that
was found before, the beginning of a line, and its number."
  link uri full open (version 0) changes stale tick before landmark selections diagnostics)

(defvar-local outrigger-sync--document nil
  "What the companion knows of this buffer, if it knows it at all.")
(put 'outrigger-sync--document 'permanent-local t)

(defvar outrigger-sync--timer nil
  "The timer that will tell what has happened, if anything has.")

(defvar outrigger-sync--idle nil
  "The timer that looks at diagnostics, which come without notice.")

(defvar outrigger-sync--focused nil
  "The document that the person was last said to be in.")

;;; Starting and ending

(defconst outrigger-sync--hooks
  '((find-file-hook . outrigger-sync-attach)
    (dired-mode-hook . outrigger-sync--serve)
    (post-command-hook . outrigger-sync--schedule)
    (window-selection-change-functions . outrigger-sync--schedule)
    (window-buffer-change-functions . outrigger-sync--schedule)
    (after-set-visited-file-name-hook . outrigger-sync--rename)
    (flycheck-after-syntax-check-hook . outrigger-sync--schedule)
    (outrigger-link-ready-functions . outrigger-sync--open-all))
  "The hooks that notice what the person does, and what each calls.")

(defconst outrigger-sync--local-hooks
  '((before-change-functions . outrigger-sync--before-change)
    (after-change-functions . outrigger-sync--after-change)
    (after-save-hook . outrigger-sync--save)
    (after-revert-hook . outrigger-sync--schedule)
    (kill-buffer-hook . outrigger-sync-detach))
  "The hooks of a buffer that is shared, and what each calls.")

(dolist (hook outrigger-sync--local-hooks)
  (put (cdr hook) 'permanent-local-hook t))

(defun outrigger-sync-start ()
  "Share what is open now, and what will be."
  (pcase-dolist (`(,hook . ,function) outrigger-sync--hooks)
    (add-hook hook function))
  (setq outrigger-sync--idle (run-with-idle-timer 1 t #'outrigger-sync--schedule))
  ;; The ones that were used last are opened last.
  (dolist (buffer (reverse (buffer-list)))
    (with-current-buffer buffer
      (outrigger-sync-attach))))

(defun outrigger-sync-stop ()
  "Share nothing any more."
  (pcase-dolist (`(,hook . ,function) outrigger-sync--hooks)
    (remove-hook hook function))
  (dolist (timer (list outrigger-sync--idle outrigger-sync--timer))
    (when timer
      (cancel-timer timer)))
  (setq outrigger-sync--timer nil)
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (outrigger-sync-detach))))

(defun outrigger-sync-attach ()
  "Share this buffer if it visits a file of a workspace on this machine."
  (when (and buffer-file-name
             (not outrigger-sync--document)
             (not (buffer-base-buffer))
             (not (file-remote-p buffer-file-name)))
    (when-let ((link (outrigger-sync--serve)))
      (setq outrigger-sync--document
            (outrigger-sync--make link (outrigger-link-uri buffer-file-name)
                                  (and enable-multibyte-characters
                                       (<= (buffer-size) outrigger-size-limit))))
      (pcase-dolist (`(,hook . ,function) outrigger-sync--local-hooks)
        (add-hook hook function nil t))
      (outrigger-sync--open)
      (outrigger-sync--schedule))))

(defun outrigger-sync--serve ()
  "Return the link of this buffer's workspace, started if need be."
  (outrigger-link-ensure default-directory))

(defun outrigger-sync-detach ()
  "Share this buffer no longer."
  (when-let ((document outrigger-sync--document))
    (pcase-dolist (`(,hook . ,function) outrigger-sync--local-hooks)
      (remove-hook hook function t))
    (setq outrigger-sync--document nil)
    (when (eq document outrigger-sync--focused)
      (setq outrigger-sync--focused nil))
    (outrigger-sync--tell document :textDocument/didClose)))

(defun outrigger-sync--rename ()
  "Share this buffer under its new name."
  (outrigger-sync-detach)
  (outrigger-sync-attach))

(defun outrigger-sync--open-all (link)
  "Open every buffer of LINK, whose companion knows none of them yet."
  (setq outrigger-sync--focused nil)
  (dolist (buffer (reverse (buffer-list)))
    (with-current-buffer buffer
      (when (and outrigger-sync--document
                 (eq link (outrigger-sync--document-link outrigger-sync--document)))
        (outrigger-sync--open))))
  (outrigger-sync--schedule))

(defun outrigger-sync--open ()
  "Open this buffer in its companion, if that is there by now."
  (let* ((document outrigger-sync--document)
         (full (outrigger-sync--document-full document)))
    (setf (outrigger-sync--document-open document)
          (outrigger-link-ready-p (outrigger-sync--document-link document))
          (outrigger-sync--document-changes document) nil
          (outrigger-sync--document-stale document) nil
          (outrigger-sync--document-before document) nil
          (outrigger-sync--document-landmark document) nil
          (outrigger-sync--document-selections document) nil
          (outrigger-sync--document-diagnostics document) nil
          (outrigger-sync--document-tick document) (buffer-chars-modified-tick))
    (outrigger-sync--tell
     document :textDocument/didOpen
     :languageId (string-remove-suffix "-mode" (symbol-name major-mode))
     :version (cl-incf (outrigger-sync--document-version document))
     :text (if full (outrigger-sync--text) ""))
    ;; A document is opened as it is on disk.  A change of nothing says that it is not.
    (when (and full (buffer-modified-p))
      (outrigger-sync--tell-changes document []))))

(defun outrigger-sync--tell (document method &rest more)
  "Tell the companion of METHOD about DOCUMENT, and MORE about the document."
  (when (outrigger-sync--document-open document)
    (outrigger-link-notify
     (outrigger-sync--document-link document) method
     `(:textDocument (:uri ,(outrigger-sync--document-uri document) ,@more)))))

;;; Texts and places

(defconst outrigger-sync--foreign "[^\x00-\uD7FF\uE000-\U0010FFFF]"
  "Matches what a buffer can hold and a message cannot, such as a stray byte.")

(defun outrigger-sync--clean (text)
  "Return TEXT as a message can hold it."
  (let ((text (substring-no-properties text)))
    (if (string-match-p outrigger-sync--foreign text)
        (replace-regexp-in-string outrigger-sync--foreign "\uFFFD" text)
      text)))

(defun outrigger-sync--text (&optional start end)
  "Return the text from START to END, or all of it, as a message can hold it."
  (save-restriction
    (widen)
    (outrigger-sync--clean (buffer-substring (or start (point-min)) (or end (point-max))))))

(defun outrigger-sync--position (place)
  "Return PLACE as the protocol counts it: in lines, and in bytes of UTF-8."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (if (outrigger-sync--in-line-end-p place) (1- place) place))
      (let ((place (point)))
        ;; In the protocol a carriage return ends a line too.
        (skip-chars-backward "^\n\r")
        (list :line (outrigger-sync--line (point))
              :character (string-bytes (outrigger-sync--text (point) place)))))))

(defun outrigger-sync--line (start)
  "Return the number of the line that begins at START.
It is counted from the line that was found last: people work in
one place for a while, and a buffer can be large."
  (let ((document outrigger-sync--document))
    (pcase-let* ((`(,place . ,line) (or (and document
                                             (outrigger-sync--seen-p document)
                                             (outrigger-sync--document-landmark document))
                                        (cons (point-min) 0)))
                 (between (outrigger-sync--line-ends (min place start) (max place start)))
                 (line (if (< start place) (- line between) (+ line between))))
      (when document
        (setf (outrigger-sync--document-landmark document) (cons start line)))
      line)))

(defun outrigger-sync--line-ends (start end)
  "Return the number of lines from START to END, both beginnings of lines."
  (save-excursion
    (save-restriction
      (narrow-to-region start end)
      (let ((count (1- (line-number-at-pos end))))
        (goto-char start)
        (while (search-forward "\r" nil t)
          (unless (eq (char-after) ?\n)
            (cl-incf count)))
        count))))

(defun outrigger-sync--range (start end)
  "Return the range from START to END."
  ;; In this order, so that a change between them leaves the landmark where it is.
  (let ((end (outrigger-sync--position end)))
    (list :start (outrigger-sync--position start) :end end)))

;;; Changes

(defun outrigger-sync--seen-p (document)
  "Return non-nil if every change of this buffer, DOCUMENT, was seen.
Changes can be made with the hooks off, or in an indirect buffer."
  (eql (outrigger-sync--document-tick document) (buffer-chars-modified-tick)))

(defun outrigger-sync--before-change (start end)
  "Remember that the text from START to END is about to change."
  (let ((document outrigger-sync--document))
    (when (and (outrigger-sync--document-open document)
               (outrigger-sync--document-full document)
               (not (outrigger-sync--document-stale document)))
      (setf (outrigger-sync--document-landmark document)
            (and (outrigger-sync--seen-p document)
                 (outrigger-sync--document-landmark document))
            (outrigger-sync--document-before document)
            (and (outrigger-sync--seen-p document)
                 (not (outrigger-sync--in-line-end-p start))
                 (not (outrigger-sync--in-line-end-p end))
                 (list start (- end start) (outrigger-sync--range start end)))))))

(defun outrigger-sync--in-line-end-p (place)
  "Return non-nil if PLACE is inside a line end, where the protocol has no place."
  (save-restriction
    (widen)
    (and (eq (char-before place) ?\r) (eq (char-after place) ?\n))))

(defun outrigger-sync--after-change (start end length)
  "Note that the LENGTH characters at START have become the text up to END."
  (let ((document outrigger-sync--document))
    (when (and (outrigger-sync--document-open document)
               (outrigger-sync--document-full document))
      (pcase (outrigger-sync--document-before document)
        (`(,(pred (eql start)) ,(pred (eql length)) ,range)
         (push (list :range range :text (outrigger-sync--text start end))
               (outrigger-sync--document-changes document)))
        (_ (setf (outrigger-sync--document-stale document) t)))
      (unless (outrigger-sync--landmark-stands-p document start)
        (setf (outrigger-sync--document-landmark document) nil))
      (setf (outrigger-sync--document-before document) nil
            (outrigger-sync--document-tick document) (buffer-chars-modified-tick))
      (outrigger-sync--schedule))))

(defun outrigger-sync--landmark-stands-p (document start)
  "Return non-nil if a change at START has left the landmark of DOCUMENT alone."
  (when-let ((place (car (outrigger-sync--document-landmark document))))
    (and (<= place start) (not (outrigger-sync--in-line-end-p place)))))

(defun outrigger-sync--flush ()
  "Tell the companion what has changed in this buffer."
  (let* ((document outrigger-sync--document)
         (changes (outrigger-sync--document-changes document)))
    (when (and (outrigger-sync--document-open document)
               (outrigger-sync--document-full document))
      (when (or (outrigger-sync--document-stale document)
                (not (outrigger-sync--seen-p document))
                (nthcdr outrigger-sync--most-changes changes))
        (setq changes `((:text ,(outrigger-sync--text))))
        (setf (outrigger-sync--document-landmark document) nil))
      (setf (outrigger-sync--document-changes document) nil
            (outrigger-sync--document-stale document) nil
            (outrigger-sync--document-before document) nil
            (outrigger-sync--document-tick document) (buffer-chars-modified-tick))
      (when changes
        (outrigger-sync--tell-changes document (vconcat (reverse changes)))
        ;; Undone or reverted: the buffer is as it is on disk again.
        (unless (buffer-modified-p)
          (outrigger-sync--tell document :textDocument/didSave))))))

(defun outrigger-sync--tell-changes (document news)
  "Tell the companion the NEWS of DOCUMENT."
  (when (outrigger-sync--document-open document)
    (outrigger-link-notify
     (outrigger-sync--document-link document) :textDocument/didChange
     `(:textDocument (:uri ,(outrigger-sync--document-uri document)
                      :version ,(cl-incf (outrigger-sync--document-version document)))
       :contentChanges ,news))))

(defun outrigger-sync--save ()
  "Tell the companion that this buffer was saved."
  (outrigger-sync--flush)
  (outrigger-sync--tell outrigger-sync--document :textDocument/didSave))

;;; Point and region

(defun outrigger-sync--schedule (&rest _)
  "Tell the companion soon where the person is and what has changed."
  (unless outrigger-sync--timer
    (setq outrigger-sync--timer
          (run-with-timer outrigger-sync--rest nil #'outrigger-sync--report))))

(defun outrigger-sync--report ()
  "Tell the companion where the person is and what has changed.
In a buffer that is not shared, a terminal for instance, the
person is still where they were."
  (setq outrigger-sync--timer nil)
  (let* ((shown (window-buffer (selected-window)))
         (buffer (or (buffer-base-buffer shown) shown))
         (document (buffer-local-value 'outrigger-sync--document buffer)))
    (outrigger-sync--flush-all)
    (when (and document (outrigger-sync--document-open document))
      (if (outrigger-sync--document-full document)
          (with-current-buffer shown
            (outrigger-sync--tell-selections document (outrigger-sync--selections)))
        (unless (eq document outrigger-sync--focused)
          (outrigger-sync--tell document :textDocument/didFocus)))
      (setq outrigger-sync--focused document)
      (with-current-buffer buffer
        (outrigger-sync--tell-diagnostics document)))))

(defun outrigger-sync--flush-all ()
  "Tell the companions what has changed in any buffer."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and outrigger-sync--document
                 (or (outrigger-sync--document-changes outrigger-sync--document)
                     (outrigger-sync--document-stale outrigger-sync--document)
                     (not (outrigger-sync--seen-p outrigger-sync--document))))
        (outrigger-sync--flush)))))

(defun outrigger-sync--tell-selections (document selections)
  "Tell the companion of SELECTIONS in DOCUMENT, unless it knows."
  (unless (and (eq document outrigger-sync--focused)
               (equal selections (outrigger-sync--document-selections document)))
    (setf (outrigger-sync--document-selections document) selections)
    (outrigger-link-notify
     (outrigger-sync--document-link document) :outrigger/selectionChanged
     `(:textDocument (:uri ,(outrigger-sync--document-uri document))
       :selections ,(vconcat selections)))))

(defun outrigger-sync--selections ()
  "Return what is selected in this buffer, the part around point first."
  (let* ((point (point))
         (bounds (cond ((not (region-active-p)) (list (cons point point)))
                       ((region-noncontiguous-p) (region-bounds))
                       (t (list (cons (mark) point)))))
         (at-point (lambda (bound) (if (memq point (list (car bound) (cdr bound))) 0 1))))
    (mapcar (pcase-lambda (`(,anchor . ,active))
              (list :anchor (outrigger-sync--position anchor)
                    :active (outrigger-sync--position active)))
            (seq-sort-by at-point #'< bounds))))

;;; Diagnostics

(defun outrigger-sync--tell-diagnostics (document)
  "Tell the companion what tools say about this buffer, DOCUMENT, unless it knows."
  (let ((diagnostics (append (outrigger-sync--flymake) (outrigger-sync--flycheck))))
    (unless (equal diagnostics (outrigger-sync--document-diagnostics document))
      (setf (outrigger-sync--document-diagnostics document) diagnostics)
      (outrigger-link-notify
       (outrigger-sync--document-link document) :outrigger/diagnosticsChanged
       `(:uri ,(outrigger-sync--document-uri document) :diagnostics ,(vconcat diagnostics))))))

(defun outrigger-sync--flymake ()
  "Return the diagnostics of Flymake for this buffer."
  (when (bound-and-true-p flymake-mode)
    (cl-loop for problem in (flymake-diagnostics)
             for type = (flymake-diagnostic-type problem)
             collect (list :range (outrigger-sync--range (flymake-diagnostic-beg problem)
                                                         (flymake-diagnostic-end problem))
                           :severity (pcase (or (get type 'flymake-category) type)
                                       ((or :error 'flymake-error) 1)
                                       ((or :warning 'flymake-warning) 2)
                                       (_ 3))
                           :message (outrigger-sync--clean (flymake-diagnostic-text problem))))))

(defun outrigger-sync--flycheck ()
  "Return the diagnostics of Flycheck for this buffer."
  (when (bound-and-true-p flycheck-mode)
    (cl-loop for problem in flycheck-current-errors
             for (start . end) = (flycheck-error-region-for-mode problem 'symbols)
             when start
             collect (list :range (outrigger-sync--range start end)
                           :severity (pcase (flycheck-error-level problem)
                                       ('error 1)
                                       ('warning 2)
                                       (_ 3))
                           :message (outrigger-sync--clean (or (flycheck-error-message problem) ""))))))

(provide 'outrigger-sync)
;;; outrigger-sync.el ends here
