;;; outrigger-interrupt.el --- May the person be interrupted now?  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Only then is the window of a proposal selected, does Ediff take the frame,
;; or does a question come in the minibuffer.  The rule is the same in all
;; plugins, see editors/README.md.

;;; Code:

(require 'seq)
(require 'outrigger-config)

(defvar company-candidates)
(defvar evil-local-mode)
(defvar evil-state)
(defvar outrigger-review-current)

(defconst outrigger-interrupt-pause 600
  "Somebody who pressed a key this recently is still typing, in milliseconds.")

(defconst outrigger-interrupt-reasons
  '(:insert :selection :operator :prompt :terminal :popup :macro :review)
  "What keeps from interrupting, in the order in which it is looked at.")

(defconst outrigger-interrupt--interval 0.2
  "How often to look again, in seconds.")

(defun outrigger-interrupt-facts ()
  "Return what the person is in the middle of, as a property list.
It has those of `outrigger-interrupt-reasons' that hold, and for how
many milliseconds the person has been :idle."
  (with-current-buffer (window-buffer (selected-window))
    (let ((evil (and (bound-and-true-p evil-local-mode) evil-state)))
      (list
       ;; Emacs has no insert mode of its own.
       :insert (memq evil '(insert replace))
       :selection (region-active-p)
       :operator (or (eq evil 'operator) prefix-arg (outrigger-interrupt--halfway-p))
       :prompt (or (active-minibuffer-window) isearch-mode cursor-in-echo-area)
       :terminal (apply #'derived-mode-p outrigger-terminal-modes)
       :popup (or completion-in-region-mode (bound-and-true-p company-candidates))
       :macro (or defining-kbd-macro executing-kbd-macro)
       :review (bound-and-true-p outrigger-review-current)
       :idle (if-let ((idle (current-idle-time))) (* 1000 (float-time idle)) 0)))))

(defun outrigger-interrupt--halfway-p ()
  "Return non-nil if the person has typed the beginning of a key sequence."
  (let ((keys (this-single-command-keys)))
    (and (> (length keys) 0) (keymapp (key-binding keys)))))

(defun outrigger-interrupt-in-command-p ()
  "Return non-nil if the person is in the middle of typing a command."
  (let ((facts (outrigger-interrupt-facts)))
    (or (plist-get facts :prompt) (plist-get facts :operator))))

(defun outrigger-interrupt-reason (facts)
  "Return the first reason in FACTS not to interrupt now, or nil."
  (or (seq-find (lambda (reason) (plist-get facts reason)) outrigger-interrupt-reasons)
      (and (<= (plist-get facts :idle) outrigger-interrupt-pause) :pause)))

(defun outrigger-interrupt-allowed-p ()
  "Return non-nil if the person may be interrupted now."
  (null (outrigger-interrupt-reason (outrigger-interrupt-facts))))

(defun outrigger-interrupt-await (wanted act)
  "Call ACT as soon as the person may be interrupted.
Give up when the function WANTED returns nil."
  (when (funcall wanted)
    (if (outrigger-interrupt-allowed-p)
        (funcall act)
      (run-with-timer outrigger-interrupt--interval nil #'outrigger-interrupt-await wanted act))))

(provide 'outrigger-interrupt)
;;; outrigger-interrupt.el ends here
