;;; outrigger-position.el --- Places in a text as the protocol counts them  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The protocol counts lines, and bytes of UTF-8 in a line.  A carriage return
;; ends a line there, and not in Emacs.  Lines are counted from the place that
;; was found last: people work in one place for a while, and a buffer can be
;; large.

;;; Code:

(require 'cl-lib)
(require 'outrigger-text)

(defvar-local outrigger-position--landmark nil
  "The beginning of a line that was found before, as (PLACE LINE TICK).
It holds as long as TICK is that of the buffer.")
(put 'outrigger-position--landmark 'permanent-local t)

(defun outrigger-position (place)
  "Return PLACE as the protocol counts it."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (if (outrigger-position-in-line-end-p place) (1- place) place))
      (let ((place (point)))
        (skip-chars-backward "^\n\r")
        (list :line (outrigger-position--line (point))
              :character (string-bytes (outrigger-text-of-buffer (point) place)))))))

(defun outrigger-position-range (start end)
  "Return the range from START to END."
  ;; In this order, so that a change between them leaves the landmark where it is.
  (let ((end (outrigger-position end)))
    (list :start (outrigger-position start) :end end)))

(defun outrigger-position-in-line-end-p (place)
  "Return non-nil if PLACE is inside a line end, where the protocol has no place."
  (save-restriction
    (widen)
    (and (eq (char-before place) ?\r) (eq (char-after place) ?\n))))

(defun outrigger-position-forget ()
  "Forget the place in this buffer that was found last."
  (setq outrigger-position--landmark nil))

(defun outrigger-position-before-change ()
  "Forget what is out of date, because this buffer is about to change."
  (unless (outrigger-position--landmark-holds-p)
    (outrigger-position-forget)))

(defun outrigger-position-after-change (start)
  "Take note of a change of this buffer at START."
  (pcase outrigger-position--landmark
    (`(,(and place (pred (>= start))) ,line ,_)
     (setq outrigger-position--landmark
           (unless (outrigger-position-in-line-end-p place)
             (list place line (buffer-chars-modified-tick)))))
    (_ (outrigger-position-forget))))

(defun outrigger-position--landmark-holds-p ()
  "Return non-nil if the place that was found last is still where it was."
  (eql (nth 2 outrigger-position--landmark) (buffer-chars-modified-tick)))

(defun outrigger-position--line (start)
  "Return the number of the line that begins at START."
  (pcase-let* ((`(,place ,line . ,_) (if (outrigger-position--landmark-holds-p)
                                         outrigger-position--landmark
                                       (list (point-min) 0)))
               (between (outrigger-position--line-ends (min place start) (max place start)))
               (line (if (< start place) (- line between) (+ line between))))
    (setq outrigger-position--landmark (list start line (buffer-chars-modified-tick)))
    line))

(defun outrigger-position--line-ends (start end)
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

(provide 'outrigger-position)
;;; outrigger-position.el ends here
