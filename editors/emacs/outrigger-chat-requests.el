;;; outrigger-chat-requests.el --- What a daemon wants from the person  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A daemon asks for permission, and asks questions.  Both come in the
;; minibuffer as soon as the person may be interrupted, and go away when somebody
;; else answers.  Edits are not asked about here: outrigger-review.el shows them
;; as diffs.  Nothing is decided by not choosing.

;;; Code:

(require 'outrigger-chat-entries)
(require 'outrigger-companion)
(require 'outrigger-config)
(require 'outrigger-interrupt)

(defvar-local outrigger-chat-requests--companion nil "The companion whose requests these are.")
(defvar-local outrigger-chat-requests--waiting nil "What waits for the person, oldest first.")
(defvar-local outrigger-chat-requests--told nil "The names of those that the person knows of.")

(defvar outrigger-chat-requests--asking nil
  "The name of the request that is in the minibuffer, and the depth of that.")

(defun outrigger-chat-requests-set (companion requests)
  "Take note of REQUESTS, all that are open in this conversation of COMPANION."
  (setq outrigger-chat-requests--companion companion
        outrigger-chat-requests--waiting
        (seq-remove (lambda (request) (plist-get request :proposal)) (append requests nil)))
  (let ((names (mapcar #'outrigger-chat-requests--name outrigger-chat-requests--waiting)))
    (setq outrigger-chat-requests--told (seq-intersection outrigger-chat-requests--told names))
    ;; Later, because this is the middle of a message of the companion.
    (when (seq-difference names outrigger-chat-requests--told)
      (run-with-timer 0 nil #'outrigger-chat-requests--tell (current-buffer)))
    (when (and outrigger-chat-requests--asking
               (not (member (car outrigger-chat-requests--asking) names)))
      (run-with-timer 0 nil #'outrigger-chat-requests--withdraw outrigger-chat-requests--asking))))

(defun outrigger-chat-requests--name (request)
  "Return the name by which REQUEST is answered."
  (plist-get request :request))

(defun outrigger-chat-requests--title (request)
  "Return what REQUEST is about, in a line."
  (outrigger-chat-entries-line (plist-get request :title)))

(defun outrigger-chat-requests--tell (buffer)
  "Tell the person what is new in the conversation in BUFFER."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (dolist (request outrigger-chat-requests--waiting)
        (unless (member (outrigger-chat-requests--name request) outrigger-chat-requests--told)
          (push (outrigger-chat-requests--name request) outrigger-chat-requests--told)
          (message "The daemon asks: %s (%s)" (outrigger-chat-requests--title request)
                   (substitute-command-keys "\\[outrigger-chat-answer]"))
          (when outrigger-chat-ask-at-once
            (outrigger-chat-requests--ask-when-allowed buffer (outrigger-chat-requests--name request))))))))

(defun outrigger-chat-requests--ask-when-allowed (buffer name)
  "Ask about request NAME of BUFFER as soon as the person may be interrupted."
  (outrigger-interrupt-await
   (lambda () (and (buffer-live-p buffer) (outrigger-chat-requests--find buffer name)))
   (lambda ()
     (with-current-buffer buffer
       (outrigger-chat-requests-ask (outrigger-chat-requests--find buffer name))))))

(defun outrigger-chat-requests--find (buffer name)
  "Return the request NAME that waits in BUFFER, or nil."
  (seq-find (lambda (request) (equal name (outrigger-chat-requests--name request)))
            (buffer-local-value 'outrigger-chat-requests--waiting buffer)))

(defun outrigger-chat-requests--withdraw (asking)
  "Leave the minibuffer, if ASKING is what it is for."
  (when (and (eq asking outrigger-chat-requests--asking)
             (= (minibuffer-depth) (cdr asking)))
    (abort-recursive-edit)))

(defun outrigger-chat-requests-ask (request)
  "Ask the person about REQUEST of this conversation, and send the answer."
  (let* ((buffer (current-buffer))
         (name (outrigger-chat-requests--name request))
         (outrigger-chat-requests--asking (cons name (1+ (minibuffer-depth))))
         (reply (condition-case nil
                    (if (plist-get request :questions)
                        `(:answers ,(vconcat (mapcar #'outrigger-chat-requests--question
                                                     (plist-get request :questions))))
                      (outrigger-chat-requests--option request))
                  (quit nil))))
    (cond ((not (outrigger-chat-requests--find buffer name)) (message "It was answered elsewhere"))
          (reply (outrigger-chat-requests--send request reply))
          (t (message "%s" (substitute-command-keys
                            "Not answered; \\[outrigger-chat-answer] asks again"))))))

(defun outrigger-chat-requests--send (request reply)
  "Answer REQUEST of this conversation with REPLY."
  (outrigger-companion-request
   outrigger-chat-requests--companion :outrigger/daemon/answer
   `(:request ,(outrigger-chat-requests--name request) :reply ,reply)
   (lambda (answered)
     (unless (eq (plist-get answered :counted) t)
       (message "Somebody else was faster")))))

(defun outrigger-chat-requests-decline (request)
  "Tell the daemon that REQUEST of this conversation gets no answer."
  (outrigger-chat-requests--send request "decline"))

(defun outrigger-chat-requests--option (request)
  "Let the person choose an option of REQUEST."
  (let* ((options (mapcar (lambda (option)
                            (cons (concat (outrigger-chat-entries-line (plist-get option :title))
                                          (and (eq (plist-get option :lasts) t)
                                               " (and not asked again)"))
                                  (plist-get option :id)))
                          (plist-get request :options)))
         (title (outrigger-chat-requests--title request))
         (command (outrigger-chat-entries-line
                   (or (plist-get (plist-get request :tool) :command) "")))
         (unreviewed (plist-get request :unreviewed))
         (chosen (completing-read (concat
                                   (if (string-search command title)
                                       title
                                     (format "%s (%s)" title command))
                                   (and (stringp unreviewed)
                                        (format " [%s]" (outrigger-chat-entries-line unreviewed)))
                                   ": ")
                                  (outrigger-chat-requests--in-order options) nil t)))
    (when-let ((option (assoc chosen options)))
      `(:option ,(cdr option)))))

(defun outrigger-chat-requests--in-order (options)
  "Return OPTIONS as a completion table that is shown in its own order.
Emacs would sort by name, and what lasts has to stand last."
  (lambda (string predicate action)
    (if (eq action 'metadata)
        '(metadata (display-sort-function . identity) (cycle-sort-function . identity))
      (complete-with-action action options string predicate))))

(defun outrigger-chat-requests--question (question)
  "Let the person answer QUESTION: with what is offered, or in words of their own."
  (let ((text (outrigger-chat-entries-line (plist-get question :question)))
        ;; What is sent is what the daemon has offered; what is shown is one line.
        (offered (mapcar (lambda (answer)
                           (list (outrigger-chat-entries-line (aref answer 0))
                                 (aref answer 0) (aref answer 1)))
                         (plist-get question :answers))))
    (if (eq (plist-get question :several) t)
        (outrigger-chat-requests--several text offered)
      (let ((answer (outrigger-chat-requests--read (concat text " ") offered)))
        (if (string-blank-p answer)
            (signal 'quit nil)
          (vector answer))))))

(defun outrigger-chat-requests--several (text offered)
  "Let the person choose some of OFFERED, or add others, to answer TEXT."
  (let (chosen answer)
    (while (not (string-blank-p
                 (setq answer (outrigger-chat-requests--read
                               (format "%s [%s] (RET ends) " text
                                       (mapconcat #'outrigger-chat-entries-line chosen ", "))
                               offered))))
      (setq chosen (if (member answer chosen)
                       (remove answer chosen)
                     (append chosen (list answer)))))
    (vconcat chosen)))

(defun outrigger-chat-requests--read (prompt offered)
  "Read an answer with PROMPT.
OFFERED has what is shown, the answer itself and what it means."
  (let ((completion-extra-properties
         (list :annotation-function
               (lambda (answer)
                 (when-let ((meaning (nth 2 (assoc answer offered))))
                   (concat "  " (outrigger-chat-entries-line meaning)))))))
    (let ((answer (completing-read prompt (mapcar #'car offered))))
      (or (cadr (assoc answer offered)) answer))))

(provide 'outrigger-chat-requests)
;;; outrigger-chat-requests.el ends here
