;;; outrigger-request.el --- What a daemon wants from the person  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A daemon asks for leave, and asks questions.  Both are put before the person
;; in the minibuffer, once they have stopped typing, and are taken away when
;; somebody else answers.  Edits are not asked about here: outrigger-review.el
;; shows them as diffs.  Nothing is decided by not choosing.

;;; Code:

(require 'outrigger-link)
(require 'outrigger-review)
(require 'outrigger-transcript)

(defcustom outrigger-chat-ask-at-once t
  "Whether to ask in the minibuffer as soon as the person has stopped typing.
Otherwise \\[outrigger-chat-answer] does."
  :type 'boolean
  :group 'outrigger)

(defconst outrigger-request--pause 1
  "How long in seconds somebody who has stopped typing has not pressed a key.")

(defvar-local outrigger-request--link nil "The link whose requests these are.")
(defvar-local outrigger-request--waiting nil "What waits for the person, oldest first.")
(defvar-local outrigger-request--told nil "The names of those that the person knows of.")

(defvar outrigger-request--asking nil
  "The name of the request that is in the minibuffer, and the depth of that.")

(defun outrigger-request-mind (link requests)
  "Take note of REQUESTS, which are all that wait in this conversation of LINK."
  (setq outrigger-request--link link
        outrigger-request--waiting
        (seq-remove (lambda (request) (plist-get request :proposal)) (append requests nil)))
  (let ((names (mapcar #'outrigger-request--name outrigger-request--waiting)))
    (setq outrigger-request--told (seq-intersection outrigger-request--told names))
    ;; Later, because this is the middle of a message of the companion.
    (when (seq-difference names outrigger-request--told)
      (run-with-timer 0 nil #'outrigger-request--tell (current-buffer)))
    (when (and outrigger-request--asking
               (not (member (car outrigger-request--asking) names)))
      (run-with-timer 0 nil #'outrigger-request--withdraw outrigger-request--asking))))

(defun outrigger-request--name (request)
  "Return the name by which REQUEST is answered."
  (plist-get request :request))

(defun outrigger-request--title (request)
  "Return what REQUEST is about, in a line."
  (outrigger-transcript-line (plist-get request :title)))

(defun outrigger-request--tell (buffer)
  "Tell the person what is new in the conversation in BUFFER."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (dolist (request outrigger-request--waiting)
        (unless (member (outrigger-request--name request) outrigger-request--told)
          (push (outrigger-request--name request) outrigger-request--told)
          (message "The daemon asks: %s (%s)" (outrigger-request--title request)
                   (substitute-command-keys "\\[outrigger-chat-answer]"))
          (when outrigger-chat-ask-at-once
            (outrigger-request--ask-when-free buffer (outrigger-request--name request))))))))

(defun outrigger-request--ask-when-free (buffer name)
  "Ask about request NAME of BUFFER once the person has stopped typing."
  (run-with-idle-timer
   outrigger-request--pause nil
   (lambda ()
     (when-let ((request (and (buffer-live-p buffer) (outrigger-request--find buffer name))))
       (if (outrigger-review-busy-p)
           (run-with-timer outrigger-request--pause nil
                           #'outrigger-request--ask-when-free buffer name)
         (with-current-buffer buffer
           (outrigger-request-ask request)))))))

(defun outrigger-request--find (buffer name)
  "Return the request NAME that waits in BUFFER, or nil."
  (seq-find (lambda (request) (equal name (outrigger-request--name request)))
            (buffer-local-value 'outrigger-request--waiting buffer)))

(defun outrigger-request--withdraw (asking)
  "Leave the minibuffer, if ASKING is what it is for."
  (when (and (eq asking outrigger-request--asking)
             (= (minibuffer-depth) (cdr asking)))
    (abort-recursive-edit)))

(defun outrigger-request-ask (request)
  "Ask the person about REQUEST of this conversation, and send the answer."
  (let* ((buffer (current-buffer))
         (name (outrigger-request--name request))
         (outrigger-request--asking (cons name (1+ (minibuffer-depth))))
         (reply (condition-case nil
                    (if (plist-get request :questions)
                        `(:answers ,(vconcat (mapcar #'outrigger-request--question
                                                     (plist-get request :questions))))
                      (outrigger-request--option request))
                  (quit nil))))
    (cond ((not (outrigger-request--find buffer name)) (message "It was answered elsewhere"))
          (reply (outrigger-request--send request reply))
          (t (message "%s" (substitute-command-keys
                            "Not answered; \\[outrigger-chat-answer] asks again"))))))

(defun outrigger-request--send (request reply)
  "Answer REQUEST of this conversation with REPLY."
  (outrigger-link-ask
   outrigger-request--link :outrigger/daemon/answer
   `(:request ,(outrigger-request--name request) :reply ,reply)
   (lambda (answered)
     (unless (eq (plist-get answered :counted) t)
       (message "Somebody else was faster")))))

(defun outrigger-request-decline (request)
  "Tell the daemon that REQUEST of this conversation gets no answer."
  (outrigger-request--send request "decline"))

(defun outrigger-request--option (request)
  "Let the person choose an option of REQUEST."
  (let* ((options (mapcar (lambda (option)
                            (cons (outrigger-transcript-line (plist-get option :title))
                                  (plist-get option :id)))
                          (plist-get request :options)))
         (title (outrigger-request--title request))
         (command (outrigger-transcript-line
                   (or (plist-get (plist-get request :tool) :command) "")))
         (chosen (completing-read (if (string-search command title)
                                      (format "%s: " title)
                                    (format "%s (%s): " title command))
                                  options nil t)))
    (when-let ((option (assoc chosen options)))
      `(:option ,(cdr option)))))

(defun outrigger-request--question (question)
  "Let the person answer QUESTION: with what is offered, or in words of their own."
  (let ((text (outrigger-transcript-line (plist-get question :question)))
        (offered (mapcar (lambda (answer) (cons (aref answer 0) (aref answer 1)))
                         (plist-get question :answers))))
    (if (eq (plist-get question :several) t)
        (outrigger-request--several text offered)
      (let ((answer (outrigger-request--read (concat text " ") offered)))
        (if (string-blank-p answer)
            (signal 'quit nil)
          (vector answer))))))

(defun outrigger-request--several (text offered)
  "Let the person choose some of OFFERED, or add others, to answer TEXT."
  (let (chosen answer)
    (while (not (string-blank-p
                 (setq answer (outrigger-request--read
                               (format "%s [%s] (RET ends) " text (string-join chosen ", "))
                               offered))))
      (setq chosen (if (member answer chosen)
                       (remove answer chosen)
                     (append chosen (list answer)))))
    (vconcat chosen)))

(defun outrigger-request--read (prompt offered)
  "Read an answer with PROMPT; OFFERED are answers and what they mean."
  (let ((completion-extra-properties
         (list :annotation-function
               (lambda (answer)
                 (when-let ((meaning (cdr (assoc answer offered))))
                   (concat "  " (outrigger-transcript-line meaning)))))))
    (completing-read prompt (mapcar #'car offered))))

(provide 'outrigger-request)
;;; outrigger-request.el ends here
