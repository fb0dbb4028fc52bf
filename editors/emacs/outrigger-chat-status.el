;;; outrigger-chat-status.el --- How a conversation stands, in words  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; For the line above a conversation, its head and its tail.

;;; Code:

(require 'outrigger-chat-entries)
(require 'outrigger-companion)

(declare-function outrigger-chat-answer "outrigger-chat")
(declare-function outrigger-chat-connect "outrigger-chat")
(defvar outrigger-chat-mode-map)

(defconst outrigger-chat-status--states
  '(("off" . "not connected") ("starting" . "starting a daemon") ("connecting" . "connecting")
    ("catchingUp" . "catching up") ("live" . "connected") ("reconnecting" . "reconnecting")
    ("lost" . "disconnected") ("failed" . "not connected"))
  "How a connection is, for people.")

(defun outrigger-chat-status--place (status)
  "Return which machine and folder the daemon of STATUS works in, or nil."
  (when-let ((place (plist-get status :place)))
    (outrigger-chat-entries-line
     (format "%s:%s" (or (plist-get place :machine) "this machine")
             (plist-get (plist-get place :workspace) :daemonPath)))))

(defun outrigger-chat-status--name (status which offered)
  "Return what people call WHICH of STATUS, one of those in OFFERED, or nil."
  (when-let ((id (plist-get status which)))
    (let ((found (seq-find (lambda (it) (equal id (plist-get it :id))) (plist-get status offered))))
      (outrigger-chat-entries-line (or (plist-get found :name) id)))))

(defun outrigger-chat-status--mode (status brief)
  "Return what the agent of STATUS may do without asking, for the header.
It is always said, because it decides what the person has to watch.
That it may not ask is all that is said of a mode that leaves edits
out of the review, because it may be one that nobody here knows.
BRIEF says that there is little room."
  (let ((mode (outrigger-chat-status--name status :mode :modes)))
    (cond ((and mode (eq (plist-get status :unasking) t))
           (concat ", " (propertize (concat mode (if brief "!" " (may not ask)"))
                                    'face 'warning)))
          (mode (concat ", " mode))
          ((equal (plist-get (plist-get status :connection) :state) "live")
           ", mode not known"))))

(defun outrigger-chat-status-header (companion status room)
  "Return the line above the conversation of COMPANION with STATUS.
It has at most ROOM columns.  The mode of the agent and what it does
stay, whatever has to go."
  (let* ((state (plist-get (plist-get status :connection) :state))
         (usage (plist-get status :usage))
         (size (or (plist-get usage :size) 0))
         (parts
          (list
           (cons 'state
                 (cond ((not (outrigger-companion-running-p companion))
                        (format " the companion is %s" (outrigger-companion-state companion)))
                       (state (concat " " (or (cdr (assoc state outrigger-chat-status--states))
                                              state)))
                       (t " waiting for the companion")))
           (cons 'place (when-let ((place (outrigger-chat-status--place status)))
                          (concat "  " place)))
           (cons 'model (when-let ((model (outrigger-chat-status--name status :model :models)))
                          (concat "  " model)))
           (cons 'mode (outrigger-chat-status--mode status nil))
           (cons 'used (unless (zerop size)
                         (format ", %d%% used" (/ (* 100 (plist-get usage :used)) size))))
           (cons 'busy (when (eq (plist-get status :busy) t)
                         ", working")))))
    (dolist (part '(used model place mode))
      (let ((over (- (string-width (mapconcat #'cdr parts "")) room)))
        (when (> over 0)
          (setf (alist-get part parts)
                (pcase part
                  ;; The end of a path says more than its beginning.
                  ('place (outrigger-chat-status--end (alist-get part parts) over))
                  ('mode (outrigger-chat-status--mode status t)))))))
    (outrigger-text-bar (truncate-string-to-width (mapconcat #'cdr parts "") room))))

(defun outrigger-chat-status--end (text over)
  "Return the end of TEXT, OVER columns shorter than it is, or nil if none is left."
  (let ((columns (- (string-width (or text "")) over 3)))
    (when (> columns 0)
      (concat "  …" (truncate-string-to-width text (string-width text)
                                              (- (string-width text) columns))))))

(defun outrigger-chat-status-head (status shortened)
  "Return what the conversation with STATUS is called, and where it takes place.
SHORTENED says that older parts are not kept."
  (concat
   (propertize (outrigger-chat-entries-line (or (plist-get status :title) "Conversation"))
               'face 'bold)
   "\n"
   (mapconcat (lambda (sentence) (concat (outrigger-chat-entries-line sentence) "\n"))
              (plist-get (plist-get status :place) :locality)
              "")
   (when shortened
     "-- what was said before is not kept --\n")
   "\n"))

(defun outrigger-chat-status-tail (status requests)
  "Return what is wrong according to STATUS, and what is open in REQUESTS."
  (let* ((connection (plist-get status :connection))
         (lines
          (append
           (mapcar (lambda (it) (concat "! " it))
                   (delq nil
                         (list (plist-get connection :why) (plist-get connection :hint)
                               (when (or (plist-get connection :trouble)
                                         (member (plist-get connection :state) '("off" "lost")))
                                 (substitute-command-keys
                                  "\\<outrigger-chat-mode-map>\\[outrigger-chat-connect] tries \
again, or starts a daemon in this folder")))))
           (mapcar (lambda (it) (concat "… " (or (plist-get it :text) "a prompt that waits")))
                   (plist-get status :queue))
           (mapcar (lambda (it)
                     (format "? %s (%s)" (plist-get it :title)
                             (substitute-command-keys
                              (if (plist-get it :proposal) "\\[outrigger-show]"
                                "\\<outrigger-chat-mode-map>\\[outrigger-chat-answer]"))))
                   requests))))
    (mapconcat (lambda (line) (concat (outrigger-chat-entries-line line) "\n")) lines "")))

(provide 'outrigger-chat-status)
;;; outrigger-chat-status.el ends here
