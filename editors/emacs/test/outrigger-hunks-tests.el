;;; outrigger-hunks-tests.el --- Tests of the hunks of a proposal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The hunks are the companion's, also while the person edits.

;;; Code:

(require 'outrigger-tests)

(defun outrigger-hunks-tests--view (review)
  "Return the diff of REVIEW, without the names of the files."
  (with-current-buffer (outrigger-review-view review)
    (replace-regexp-in-string "\\`--- .*\n\\+\\+\\+ .*\n" ""
                              (buffer-substring-no-properties (point-min) (point-max)))))

(defun outrigger-hunks-tests--names (review)
  "Return the names of the hunks in the diff of REVIEW."
  (cl-loop for line in (split-string (outrigger-hunks-tests--view review) "\n")
           when (string-match "^@@ .* @@ \\(.*\\)" line)
           collect (match-string 1 line)))

(defmacro outrigger-hunks-tests--reviewing (before after hunks &rest body)
  "Run BODY with a review of BEFORE and AFTER, with HUNKS between them."
  (declare (indent 3) (debug t))
  `(outrigger-tests--listening
     (let ((review (outrigger-tests--propose
                    companion ,before ,after :hunks (apply #'outrigger-tests--hunks ,hunks))))
       ,@body)))

(defun outrigger-hunks-tests--edit (review place text)
  "Insert TEXT at PLACE, a regexp, into the proposed text of REVIEW."
  (with-current-buffer (outrigger-review-proposed review)
    (goto-char (point-min))
    (re-search-forward place)
    (goto-char (match-beginning 0))
    (insert text))
  (outrigger-review-follow review))

(ert-deftest outrigger-hunks-tests-close-hunks-stay-apart ()
  "The diff program would make one of these two; the companion and the page do not."
  (outrigger-hunks-tests--reviewing "1\n2\n3\n4\n5\n" "1\nTWO\n3\nFOUR\n5\n" '((1 2 1 2) (3 4 3 4))
    (should (equal (outrigger-hunks-tests--view review)
                   (concat "@@ -1,3 +1,3 @@ hunk 1 of 2\n 1\n-2\n+TWO\n 3\n"
                           "@@ -4,2 +4,2 @@ hunk 2 of 2\n-4\n+FOUR\n 5\n")))
    ;; Hunk 2 is hunk 2 whatever becomes of hunk 1.
    (with-current-buffer (outrigger-review-view review)
      (goto-char (point-min))
      (diff-hunk-next)
      (outrigger-diff-drop-hunk))
    (should (equal (outrigger-hunks-tests--view review)
                   "@@ -2,4 +2,4 @@ hunk 2 of 2\n 2\n 3\n-4\n+FOUR\n 5\n"))
    (should (equal (outrigger-review-text review) "1\n2\n3\nFOUR\n5\n"))))

(ert-deftest outrigger-hunks-tests-the-companion-decides-what-a-hunk-is ()
  "Even where another comparison would find something else."
  (outrigger-hunks-tests--reviewing "a\nb\nc\n" "a\nB\nc\n" '((0 3 0 3))
    (should (equal (outrigger-hunks-tests--view review)
                   "@@ -1,3 +1,3 @@ hunk 1 of 1\n-a\n-b\n-c\n+a\n+B\n+c\n"))))

(ert-deftest outrigger-hunks-tests-edits-keep-the-numbers ()
  (pcase-dolist (`(,place ,text . ,names)
                 '(;; Above all hunks, in one, between two, below all, and at the end of one.
                   ("^1$" "new\n" "your edit" "hunk 1 of 2" "hunk 2 of 2")
                   ("THREE" "new\n" "hunk 1 of 2" "hunk 2 of 2")
                   ("^6$" "new\n" "hunk 1 of 2" "your edit" "hunk 2 of 2")
                   ("\\'" "new" "hunk 1 of 2" "hunk 2 of 2" "your edit")
                   ("^4$" "new\n" "hunk 1 of 2" "hunk 2 of 2")
                   ("^4$" "new" "hunk 1 of 2" "hunk 2 of 2")))
    (outrigger-hunks-tests--reviewing
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n" "1\n2\nTHREE\n4\n5\n6\n7\nEIGHT\n9\n10\n"
        '((2 3 2 3) (7 8 7 8))
      (outrigger-hunks-tests--edit review place text)
      (should (equal (list place text (outrigger-hunks-tests--names review))
                     (list place text names))))))

(ert-deftest outrigger-hunks-tests-what-is-between-is-gone ()
  (outrigger-hunks-tests--reviewing "1\n2\n3\n4\n5\n" "1\nTWO\n3\nFOUR\n5\n" '((1 2 1 2) (3 4 3 4))
    (with-current-buffer (outrigger-review-proposed review)
      (goto-char (point-min))
      (delete-region (progn (search-forward "TW") (point)) (search-forward "FOU")))
    (outrigger-review-follow review)
    (should (equal (outrigger-hunks-tests--view review)
                   "@@ -1,5 +1,3 @@ hunks 1, 2 of 2\n 1\n-2\n-3\n-4\n+TWR\n 5\n"))))

(ert-deftest outrigger-hunks-tests-line-ends-alone-are-no-change ()
  "The companion looks past carriage returns that the agent has removed everywhere."
  (outrigger-hunks-tests--reviewing "1\r\n2\r\n3\r\n" "1\nTWO\n3\n" '((1 2 1 2))
    (should (equal (outrigger-hunks-tests--view review)
                   "@@ -1,3 +1,3 @@ hunk 1 of 1\n 1\n-2\n+TWO\n 3\n"))
    (with-current-buffer (outrigger-review-view review)
      (outrigger-diff-drop-hunk))
    (should (equal (outrigger-review-text review) "1\n2\n3\n"))))

(ert-deftest outrigger-hunks-tests-a-draft-has-hunks-of-its-own ()
  "After a restart the proposed text may be the person's, and the hunks the agent's."
  (outrigger-tests--listening
    (let ((review (outrigger-tests--propose
                   companion "1\n2\n3\n4\n" "1\nTWO\nand more\n3\n4\n"
                   :hunks (outrigger-tests--hunks '(1 2 1 2) '(3 4 3 4))
                   :draftHunks (outrigger-tests--hunks '(1 2 1 3)))))
      (should (equal (outrigger-hunks-tests--view review)
                     "@@ -1,4 +1,5 @@ hunk 1 of 2\n 1\n-2\n+TWO\n+and more\n 3\n 4\n")))))

(ert-deftest outrigger-hunks-tests-hunks-of-another-text-are-left-out ()
  "An answer may be about the next revision, which comes after it."
  (outrigger-hunks-tests--reviewing "1\n2\n3\n" "1\nTWO\n3\n" '((1 2 1 2))
    (outrigger-review-compared review "1\nTWO\n3\n" (outrigger-tests--hunks '(1 2 1 2) '(7 8 7 8)))
    (should (equal (outrigger-hunks-tests--names review) '("hunk 1 of 1")))))

(ert-deftest outrigger-hunks-tests-a-diff-that-is-behind-is-not-acted-on ()
  "Its lines are not those of the text any more."
  (outrigger-hunks-tests--reviewing "1\n2\n3\n" "1\nTWO\n3\n" '((1 2 1 2))
    (cl-letf (((symbol-function 'outrigger-companion-running-p) #'ignore))
      (outrigger-hunks-tests--edit review "1" "new\n")
      (with-current-buffer (outrigger-review-view review)
        (should-error (outrigger-diff-drop-hunk) :type 'user-error))
      (should (equal (outrigger-review-text review) "new\n1\nTWO\n3\n")))
    ;; The companion is back.
    (outrigger-review-follow review)
    (with-current-buffer (outrigger-review-view review)
      (goto-char (point-min))
      (diff-hunk-next 2)
      (outrigger-diff-drop-hunk))
    (should (equal (outrigger-review-text review) "new\n1\n2\n3\n"))))

(ert-deftest outrigger-hunks-tests-edit-goes-to-the-line ()
  (outrigger-hunks-tests--reviewing "1\n2\n3\n4\n5\n6\n" "1\n2\n3\n4\nFIVE\n6\n" '((4 5 4 5))
    (with-current-buffer (outrigger-review-view review)
      (pcase-dolist (`(,line ,there) '(("^ 3$" "3") ("^-5$" "FIVE") ("^\\+FIVE$" "FIVE")
                                       ("^ 6$" "6")))
        (goto-char (point-min))
        (re-search-forward line)
        (save-window-excursion
          (outrigger-diff-edit)
          (should (equal (list line (buffer-substring (line-beginning-position)
                                                      (line-end-position)))
                         (list line there))))))))

(defun outrigger-hunks-tests--patched (old diff)
  "Return the lines OLD with the hunks in DIFF made."
  (let ((at 0) new)
    (with-temp-buffer
      (insert diff)
      (goto-char (point-min))
      (while (not (eobp))
        (let ((end (line-end-position)))
          (cond ((looking-at "@@ -\\([0-9]+\\),\\([0-9]+\\)")
                 (let ((start (string-to-number (match-string 1))))
                   (unless (equal (match-string 2) "0")
                     (cl-decf start))
                   ;; They never overlap.
                   (should (>= start at))
                   (while (< at start)
                     (push (aref old at) new)
                     (cl-incf at))))
                ((looking-at "[- ]")
                 (should (string-prefix-p (buffer-substring (1+ (point)) end) (aref old at)))
                 (when (looking-at " ")
                   (push (aref old at) new))
                 (cl-incf at))
                ((looking-at "\\+")
                 (push (buffer-substring (1+ (point)) (1+ end)) new))
                ((looking-at "\\\\")
                 (when (string-prefix-p "+" (save-excursion
                                              (forward-line -1)
                                              (buffer-substring (point) (1+ (point)))))
                   (push (string-remove-suffix "\n" (pop new)) new)))))
        (forward-line)))
    (while (< at (length old))
      (push (aref old at) new)
      (cl-incf at))
    (apply #'concat (nreverse new))))

(ert-deftest outrigger-hunks-tests-the-diff-is-always-right ()
  "Whatever the person does, the diff makes their text out of the original."
  (random "outrigger")
  (let ((before "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12"))
    (dotimes (_ 40)
      (outrigger-hunks-tests--reviewing
          before "1\nTWO\n3\n4\n5\nnew\n6\n7\n10\n11\n12\n"
          '((1 2 1 2) (5 5 5 6) (7 9 8 8) (11 12 10 11))
        (with-current-buffer (outrigger-review-proposed review)
          (dotimes (_ 12)
            (let* ((start (+ (point-min) (random (1+ (buffer-size)))))
                   (end (min (point-max) (+ start (random 6)))))
              (pcase (random 3)
                (0 (goto-char start) (insert (seq-random-elt '("x" "\n" "y\nz\n" "3\n"))))
                (1 (delete-region start end))
                (2 (upcase-region start end))))
            (outrigger-review-follow review)
            (let ((view (outrigger-hunks-tests--view review)))
              (should (equal (outrigger-review-text review)
                             (if (string-prefix-p "Nothing is left" view)
                                 before
                               (outrigger-hunks-tests--patched
                                (outrigger-hunks-lines before) view)))))))))))

(provide 'outrigger-hunks-tests)
;;; outrigger-hunks-tests.el ends here
