;;; outrigger-rules-tests.el --- Tests of the rules that all plugins share  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; When a companion is started again, and when the person may be interrupted.
;; Every plugin has these tables in its tests.

;;; Code:

(require 'outrigger-tests)

(ert-deftest outrigger-rules-tests-restart ()
  (pcase-dolist (`(,before ,ran ,failures ,wait)
                 ;; Failures before, seconds that it ran; failures now, seconds to wait.
                 '((0 0 1 0.25)
                   (1 0 2 0.5)
                   (2 10 3 1)
                   (3 59 4 2)
                   (4 0 5 4)
                   (5 59 6 nil)
                   (6 0 7 nil)
                   (0 60 1 0.25)
                   (5 60 1 0.25)
                   (5 3600 1 0.25)))
    (should (equal (list before ran (outrigger-restart-after-end before ran))
                   (list before ran (cons failures wait))))))

(ert-deftest outrigger-rules-tests-interrupt ()
  (pcase-dolist (`(,holds ,idle ,reason)
                 ;; What is the case, for how many milliseconds no key was pressed, the reason.
                 '((() 601 nil)
                   (() 600 :pause)
                   (() 0 :pause)
                   ((:insert) 5000 :insert)
                   ((:selection) 5000 :selection)
                   ((:operator) 5000 :operator)
                   ((:prompt) 5000 :prompt)
                   ((:terminal) 5000 :terminal)
                   ((:popup) 5000 :popup)
                   ((:macro) 5000 :macro)
                   ((:review) 5000 :review)
                   ((:popup :insert) 0 :insert)))
    (should (equal (list holds idle
                         (outrigger-interrupt-reason
                          `(:idle ,idle ,@(mapcan (lambda (it) (list it t)) holds))))
                   (list holds idle reason)))))

(defun outrigger-rules-tests--holds ()
  "Return what the person is in the middle of."
  (let ((facts (outrigger-interrupt-facts)))
    (seq-filter (lambda (reason) (plist-get facts reason)) outrigger-interrupt-reasons)))

(defvar evil-local-mode)
(defvar evil-state)
(defvar company-candidates)

(ert-deftest outrigger-rules-tests-what-the-person-is-in-the-middle-of ()
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "one\ntwo\n")
    (should (equal (outrigger-rules-tests--holds) nil))
    (let ((transient-mark-mode t))
      (push-mark (point-max) t t)
      (should (equal (outrigger-rules-tests--holds) '(:selection)))
      (deactivate-mark))
    (let ((prefix-arg '(4)))
      (should (equal (outrigger-rules-tests--holds) '(:operator))))
    (cl-letf (((symbol-function 'this-single-command-keys) (lambda () (kbd "C-x"))))
      (should (equal (outrigger-rules-tests--holds) '(:operator))))
    (cl-letf (((symbol-function 'this-single-command-keys) (lambda () (kbd "C-f"))))
      (should (equal (outrigger-rules-tests--holds) nil)))
    (let ((isearch-mode t))
      (should (equal (outrigger-rules-tests--holds) '(:prompt))))
    (let ((cursor-in-echo-area t))
      (should (equal (outrigger-rules-tests--holds) '(:prompt))))
    (let ((completion-in-region-mode t))
      (should (equal (outrigger-rules-tests--holds) '(:popup))))
    (let ((company-candidates '("one")))
      (should (equal (outrigger-rules-tests--holds) '(:popup))))
    (let ((defining-kbd-macro t))
      (should (equal (outrigger-rules-tests--holds) '(:macro))))
    (let ((evil-local-mode t))
      (pcase-dolist (`(,state ,reasons)
                     '((insert (:insert)) (replace (:insert)) (operator (:operator)) (normal nil)))
        (let ((evil-state state))
          (should (equal (outrigger-rules-tests--holds) reasons)))))
    (with-current-buffer (get-buffer-create "*terminal*")
      (comint-mode))
    (switch-to-buffer "*terminal*")
    (should (equal (outrigger-rules-tests--holds) '(:terminal)))
    (switch-to-buffer "a.txt")
    (outrigger-tests--propose companion "one\n" "two\n")
    (should (equal (outrigger-rules-tests--holds) nil))
    (outrigger-show)
    (should (equal (outrigger-rules-tests--holds) '(:review)))))

(ert-deftest outrigger-rules-tests-what-waits-comes-when-it-may ()
  (outrigger-tests--in-workspace
    (let ((wanted t) (idle 0) came)
      (cl-letf (((symbol-function 'current-idle-time) (lambda () (seconds-to-time idle))))
        (outrigger-interrupt-await (lambda () wanted) (lambda () (setq came t)))
        (should-not came)
        (setq idle 1)
        (outrigger-tests--wait "the pause" (lambda () came))
        ;; What nobody wants any more does not come, and nobody asks again.
        (setq idle 0 came nil)
        (let ((asked 0))
          (outrigger-interrupt-await (lambda () (cl-incf asked) wanted) (lambda () (setq came t)))
          (setq wanted nil idle 1)
          (outrigger-tests--wait "the second look" (lambda () (= asked 2)))
          (should-not came))))))

(ert-deftest outrigger-rules-tests-a-proposal-is-selected-when-it-may-be ()
  (pcase-dolist (`(,wish ,idle ,selected) '((nil 5 nil) (t 0 nil) (t 5 t) (always 0 t)))
    (cl-letf (((symbol-function 'current-idle-time) (lambda () (seconds-to-time idle))))
      (outrigger-tests--listening
        (outrigger-tests--file "a.txt" "one\n")
        (delete-other-windows)
        (let* ((outrigger-select-proposal wish)
               (review (outrigger-tests--propose companion "one\n" "two\n")))
          (should (equal (list wish idle (eq (window-buffer) (outrigger-review-view review)))
                         (list wish idle selected))))))))

(provide 'outrigger-rules-tests)
;;; outrigger-rules-tests.el ends here
