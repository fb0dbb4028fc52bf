;;; outrigger-selection.el --- Where the person is  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The document in front of the person, point and region.

;;; Code:

(require 'outrigger-documents)

(defun outrigger-selection--report (document shown)
  "Report where the person is in DOCUMENT, in the buffer SHOWN."
  (if (outrigger-document-full document)
      (with-current-buffer shown
        (outrigger-selection--notify document (outrigger-selection--now)))
    (unless (eq document outrigger-documents-focused)
      (outrigger-documents-notify document :textDocument/didFocus)))
  (setq outrigger-documents-focused document))

(add-hook 'outrigger-documents-report-functions #'outrigger-selection--report)

(defun outrigger-selection--notify (document selections)
  "Report SELECTIONS in DOCUMENT, unless they are those that were reported last."
  (unless (and (eq document outrigger-documents-focused)
               (equal selections (outrigger-document-selections document)))
    (setf (outrigger-document-selections document) selections)
    (outrigger-companion-notify
     (outrigger-document-companion document) :outrigger/selectionChanged
     `(:textDocument (:uri ,(outrigger-document-uri document))
       :selections ,(vconcat selections)))))

(defun outrigger-selection--now ()
  "Return what is selected in this buffer, the part around point first."
  (let* ((point (point))
         (bounds (cond ((not (region-active-p)) (list (cons point point)))
                       ((region-noncontiguous-p) (region-bounds))
                       (t (list (cons (mark) point)))))
         (at-point (lambda (bound) (if (memq point (list (car bound) (cdr bound))) 0 1))))
    (mapcar (pcase-lambda (`(,anchor . ,active))
              (list :anchor (outrigger-position anchor)
                    :active (outrigger-position active)))
            (seq-sort-by at-point #'< bounds))))

(provide 'outrigger-selection)
;;; outrigger-selection.el ends here
