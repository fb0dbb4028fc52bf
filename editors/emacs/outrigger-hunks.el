;;; outrigger-hunks.el --- The hunks of a proposal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Where two texts differ is the companion's to say, so that hunk 2 is the same
;; here, on the page and in a command.  While the person edits, its hunks are
;; those of their text.  Each is called after the agent's hunks that it touches;
;; one that touches none is the person's own, and has no number.
;;
;; Lines are counted from zero, and ends are exclusive.  Texts are vectors of
;; lines, each with its line feed.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)

(cl-defstruct (outrigger-hunk
               (:constructor outrigger-hunk-make
                             (numbers old-start old-end new-start new-end))
               (:copier nil))
  "Lines of the old text, and the lines of the new text in their place.
NUMBERS are those of the agent's hunks that it touches: none if
only the person has changed something here, several if they have
changed what was between."
  numbers old-start old-end new-start new-end)

(defun outrigger-hunks-lines (text)
  "Return the lines of TEXT, each with its line feed."
  (let ((start 0) end lines)
    (while (setq end (string-search "\n" text start))
      (push (substring text start (1+ end)) lines)
      (setq start (1+ end)))
    (when (< start (length text))
      (push (substring text start) lines))
    (vconcat (nreverse lines))))

;;; The companion's hunks

(defun outrigger-hunks-read (hunks)
  "Return HUNKS of a message."
  (mapcar (lambda (hunk)
            (outrigger-hunk-make (list (plist-get hunk :number))
                                 (plist-get hunk :originalStart) (plist-get hunk :originalEnd)
                                 (plist-get hunk :proposedStart) (plist-get hunk :proposedEnd)))
          hunks))

(defun outrigger-hunks-number (hunks proposed)
  "Return HUNKS with the numbers of the hunks in PROPOSED that they touch.
Both have the same old text.  There are equal lines between any two
hunks in PROPOSED, so one that is left as it was has its own number."
  (dolist (hunk hunks hunks)
    (while (and proposed (< (outrigger-hunk-old-end (car proposed)) (outrigger-hunk-old-start hunk)))
      (pop proposed))
    (setf (outrigger-hunk-numbers hunk)
          (cl-loop for other in proposed
                   while (<= (outrigger-hunk-old-start other) (outrigger-hunk-old-end hunk))
                   append (outrigger-hunk-numbers other)))))

(defun outrigger-hunks-within (hunks old new)
  "Return those of HUNKS that are within OLD and NEW lines.
An answer about a text whose file has changed meanwhile is about
other lines; the texts that it is about come next."
  (seq-filter (lambda (hunk)
                (and (<= (outrigger-hunk-old-end hunk) old)
                     (<= (outrigger-hunk-new-end hunk) new)))
              hunks))

;;; As a unified diff

(defconst outrigger-hunks--context 2
  "How many equal lines are shown around a hunk.")

(defun outrigger-hunks-insert (hunks old new total)
  "Insert HUNKS between the lines OLD and NEW as a unified diff.
TOTAL is how many hunks the proposal has.  Each hunk is its own,
however close the next one is; its text has it as the property
`outrigger-hunk'."
  (let ((free 0))
    (while hunks
      (let* ((hunk (pop hunks))
             (start (outrigger-hunk-old-start hunk))
             (end (outrigger-hunk-old-end hunk))
             (before (min outrigger-hunks--context (- start free)))
             (after (min outrigger-hunks--context
                         (- (if hunks (outrigger-hunk-old-start (car hunks)) (length old)) end)))
             (from (point)))
        (insert (outrigger-hunks--header hunk before after total))
        (outrigger-hunks--insert-lines " " old (- start before) start)
        (outrigger-hunks--insert-lines "-" old start end)
        (outrigger-hunks--insert-lines "+" new (outrigger-hunk-new-start hunk)
                                       (outrigger-hunk-new-end hunk))
        (outrigger-hunks--insert-lines " " old end (+ end after))
        (put-text-property from (point) 'outrigger-hunk hunk)
        (setq free (+ end after))))))

(defun outrigger-hunks--header (hunk before after total)
  "Return the header of HUNK, with BEFORE and AFTER equal lines, of TOTAL."
  (cl-flet ((range (start end)
              (let ((count (+ before (- end start) after)))
                ;; Of no lines the number is that of the line before them.
                (format "%d,%d" (if (zerop count) start (1+ (- start before))) count))))
    (format "@@ -%s +%s @@ %s\n"
            (range (outrigger-hunk-old-start hunk) (outrigger-hunk-old-end hunk))
            (range (outrigger-hunk-new-start hunk) (outrigger-hunk-new-end hunk))
            (outrigger-hunks-name hunk total))))

(defun outrigger-hunks-name (hunk total)
  "Return what HUNK is called, as on the page; TOTAL is how many there are."
  (pcase (outrigger-hunk-numbers hunk)
    ('nil "your edit")
    (`(,number) (format "hunk %d of %d" number total))
    (numbers (format "hunks %s of %d" (mapconcat #'number-to-string numbers ", ") total))))

(defun outrigger-hunks--insert-lines (sign lines start end)
  "Insert LINES from START to END, each with SIGN before it."
  (cl-loop for at from start below end
           for line = (aref lines at)
           do (insert sign line)
           unless (string-suffix-p "\n" line)
           do (insert "\n\\ No newline at end of file\n")))

(provide 'outrigger-hunks)
;;; outrigger-hunks.el ends here
