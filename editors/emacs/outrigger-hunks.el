;;; outrigger-hunks.el --- The hunks of a proposal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Where two texts differ is the companion's to say, so that hunk 2 is the same
;; here, on the page and in a command.  This file keeps its hunks in place while
;; the person edits: each is held by markers, and between them the texts are
;; equal, unless the person has changed something there.  Then that is a hunk
;; without a number.
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
NUMBERS are those of the companion's hunks that it is made of: none
if only the person has changed something here, several if they have
changed what was between."
  numbers old-start old-end new-start new-end)

(cl-defstruct (outrigger-hunk-mark
               (:constructor outrigger-hunk-mark--make (number old-start old-end start end))
               (:copier nil))
  "A hunk of the companion: lines of the old text, and markers around the new."
  number old-start old-end start end)

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

(defun outrigger-hunks-fit-p (hunks old-count new-count)
  "Return non-nil if HUNKS are about texts of OLD-COUNT and NEW-COUNT lines.
They are about the agent's text.  What the companion sends as
proposed may be what the person has made of it already."
  (let ((old 0) (new 0))
    (and (seq-every-p (lambda (hunk)
                        (prog1 (= (- (outrigger-hunk-old-start hunk) old)
                                  (- (outrigger-hunk-new-start hunk) new))
                          (setq old (outrigger-hunk-old-end hunk)
                                new (outrigger-hunk-new-end hunk))))
                      hunks)
         (= (- old-count old) (- new-count new)))))

(defun outrigger-hunks-mark (hunks)
  "Hold HUNKS with markers in this buffer, which has the new text."
  (save-excursion
    (save-restriction
      (widen)
      (mapcar (lambda (hunk)
                (let ((start (outrigger-hunks--marker (outrigger-hunk-new-start hunk)))
                      (end (outrigger-hunks--marker (outrigger-hunk-new-end hunk))))
                  ;; What is typed at either end is part of the hunk.
                  (set-marker-insertion-type end t)
                  (outrigger-hunk-mark--make (car (outrigger-hunk-numbers hunk))
                                             (outrigger-hunk-old-start hunk)
                                             (outrigger-hunk-old-end hunk)
                                             start end)))
              hunks))))

(defun outrigger-hunks--marker (line)
  "Return a marker at the beginning of LINE of this buffer."
  (goto-char (point-min))
  (forward-line line)
  (point-marker))

(defun outrigger-hunks-marked (held)
  "Return where the hunks in HELD are in this buffer now, as whole lines."
  (save-excursion
    (save-restriction
      (widen)
      (let ((line 0) (at (point-min)) hunks)
        (cl-flet ((line-at (marker round)
                    ;; Counted from the marker before: there may be many in a long text.
                    (let ((start (progn (goto-char marker) (line-beginning-position))))
                      (if (>= start at)
                          (cl-incf line (count-lines at start))
                        (cl-decf line (count-lines start at)))
                      (setq at start)
                      (+ line (if (and round (> (marker-position marker) start)) 1 0)))))
          (dolist (mark held)
            (let ((new-start (line-at (outrigger-hunk-mark-start mark) nil))
                  (new-end (line-at (outrigger-hunk-mark-end mark) t)))
              (push (outrigger-hunk-make (list (outrigger-hunk-mark-number mark))
                                         (outrigger-hunk-mark-old-start mark)
                                         (outrigger-hunk-mark-old-end mark)
                                         new-start new-end)
                    hunks))))
        (nreverse hunks)))))

;;; What differs

(defun outrigger-hunks-between (old new hunks)
  "Return all hunks between the lines OLD and NEW.
HUNKS are those that have a number, and may hold no difference any
more.  What differs between them has none."
  (let ((old-at 0) (new-at 0) found)
    (dolist (hunk (append (outrigger-hunks--apart hunks)
                          (list (outrigger-hunk-make nil (length old) (length old)
                                                     (length new) (length new)))))
      (when-let ((other (outrigger-hunks--trimmed
                         old new old-at (outrigger-hunk-old-start hunk)
                         new-at (outrigger-hunk-new-start hunk))))
        (push other found))
      (setq old-at (outrigger-hunk-old-end hunk)
            new-at (outrigger-hunk-new-end hunk))
      (unless (outrigger-hunks--equal-p old new hunk)
        (push hunk found)))
    (outrigger-hunks--joined (nreverse found))))

(defun outrigger-hunks--apart (hunks)
  "Return HUNKS, with those as one that share a line of the new text."
  (let (apart)
    (dolist (hunk hunks)
      (if (and apart (< (outrigger-hunk-new-start hunk) (outrigger-hunk-new-end (car apart))))
          (push (outrigger-hunks--union (pop apart) hunk) apart)
        (push hunk apart)))
    (nreverse apart)))

(defun outrigger-hunks--joined (hunks)
  "Return HUNKS, with those as one that have nothing between them."
  (let (joined)
    (dolist (hunk hunks)
      (if (and joined
               (= (outrigger-hunk-old-end (car joined)) (outrigger-hunk-old-start hunk))
               (= (outrigger-hunk-new-end (car joined)) (outrigger-hunk-new-start hunk)))
          (push (outrigger-hunks--union (pop joined) hunk) joined)
        (push hunk joined)))
    (nreverse joined)))

(defun outrigger-hunks--union (one other)
  "Return one hunk for ONE and OTHER, which follows it, and what is between."
  (outrigger-hunk-make (append (outrigger-hunk-numbers one) (outrigger-hunk-numbers other))
                       (outrigger-hunk-old-start one) (outrigger-hunk-old-end other)
                       (outrigger-hunk-new-start one)
                       (max (outrigger-hunk-new-end one) (outrigger-hunk-new-end other))))

(defun outrigger-hunks--equal-p (old new hunk)
  "Return non-nil if HUNK is the same lines in OLD and NEW."
  (equal (seq-subseq old (outrigger-hunk-old-start hunk) (outrigger-hunk-old-end hunk))
         (seq-subseq new (outrigger-hunk-new-start hunk) (outrigger-hunk-new-end hunk))))

(defun outrigger-hunks--trimmed (old new old-start old-end new-start new-end)
  "Return what differs in a part of OLD and NEW as one hunk, or nil.
The part is from OLD-START to OLD-END, and from NEW-START to NEW-END."
  (while (and (< old-start old-end) (< new-start new-end)
              (string= (aref old old-start) (aref new new-start)))
    (cl-incf old-start)
    (cl-incf new-start))
  (while (and (< old-start old-end) (< new-start new-end)
              (string= (aref old (1- old-end)) (aref new (1- new-end))))
    (cl-decf old-end)
    (cl-decf new-end))
  (unless (and (= old-start old-end) (= new-start new-end))
    (outrigger-hunk-make nil old-start old-end new-start new-end)))

(defun outrigger-hunks-moved (hunks before after)
  "Return HUNKS, whose old text is BEFORE, for the old text AFTER.
AFTER is BEFORE with the unsaved changes of the person.  A hunk
where they are has no number any more, and is left out."
  (if-let ((change (outrigger-hunks--trimmed before after 0 (length before) 0 (length after))))
      (let* ((start (outrigger-hunk-old-start change))
             (end (outrigger-hunk-old-end change))
             (shift (- (outrigger-hunk-new-end change) end)))
        (cl-loop for hunk in hunks
                 for by = (cond ((<= (outrigger-hunk-old-end hunk) start) 0)
                                ((>= (outrigger-hunk-old-start hunk) end) shift))
                 when by
                 collect (outrigger-hunk-make (outrigger-hunk-numbers hunk)
                                              (+ by (outrigger-hunk-old-start hunk))
                                              (+ by (outrigger-hunk-old-end hunk))
                                              (outrigger-hunk-new-start hunk)
                                              (outrigger-hunk-new-end hunk))))
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
