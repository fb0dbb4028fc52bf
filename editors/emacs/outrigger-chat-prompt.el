;;; outrigger-chat-prompt.el --- Where the person writes to a daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The buffer below a conversation.  It completes the names of files after an
;; @, and commands after a / at the beginning.

;;; Code:

(require 'outrigger-companion)

(declare-function outrigger-chat-cancel "outrigger-chat")

(defvar-local outrigger-chat-prompt--companion nil "The companion over which this buffer is sent.")
(defvar-local outrigger-chat-prompt--commands nil
  "What can be said with a slash before it.
Each is a vector of its name and of what it does.")

(defvar outrigger-prompt-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'outrigger-prompt-send)
    (define-key map (kbd "C-c C-k") #'outrigger-chat-cancel)
    map)
  "Keys where the person writes to a daemon.")

(define-derived-mode outrigger-prompt-mode text-mode "Outrigger-Prompt"
  "Mode of the buffer in which the person writes to a daemon.

\\{outrigger-prompt-mode-map}"
  (setq header-line-format
        (substitute-command-keys
         " \\<outrigger-prompt-mode-map>`\\[outrigger-prompt-send]' says it, \
`\\[outrigger-chat-cancel]' ends the turn; @file and @selection go with it"))
  (add-hook 'completion-at-point-functions #'outrigger-chat-prompt--complete nil t))

(defun outrigger-chat-prompt-buffer (companion)
  "Return the buffer in which to write over COMPANION, made if need be."
  (let ((root (outrigger-companion-root companion)))
    (with-current-buffer (get-buffer-create (outrigger-chat-prompt--name root))
      (unless (derived-mode-p 'outrigger-prompt-mode)
        (outrigger-prompt-mode))
      (setq outrigger-chat-prompt--companion companion
            default-directory root)
      (current-buffer))))

(defun outrigger-chat-prompt--name (root)
  "Return the name of the buffer for the workspace at ROOT."
  (format "*outrigger-say %s*" (abbreviate-file-name root)))

(defun outrigger-chat-prompt-set-commands (root commands)
  "Offer COMMANDS to whoever writes for the workspace at ROOT."
  (when-let ((buffer (get-buffer (outrigger-chat-prompt--name root))))
    (with-current-buffer buffer
      (setq outrigger-chat-prompt--commands commands))))

(defun outrigger-chat-prompt-say (companion text &optional failed)
  "Say TEXT over COMPANION, and call FAILED if that could not be done."
  (outrigger-companion-request companion :outrigger/daemon/prompt `(:text ,text :mentions t) nil failed))

(defun outrigger-prompt-send ()
  "Say what is written in this buffer."
  (interactive nil outrigger-prompt-mode)
  (let ((text (string-trim (buffer-substring-no-properties (point-min) (point-max))))
        (buffer (current-buffer)))
    (when (string-empty-p text)
      (user-error "There is nothing to say"))
    (outrigger-chat-prompt-say outrigger-chat-prompt--companion text
                          (lambda (_) (outrigger-chat-prompt--restore buffer text)))
    ;; Undo brings it back.
    (erase-buffer)))

(defun outrigger-chat-prompt--restore (buffer text)
  "Put TEXT back into BUFFER, unless there is another one by now."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (zerop (buffer-size))
        (insert text)))))

(defun outrigger-chat-prompt--complete ()
  "Complete the name of a file after an @, or a command after a /."
  (let ((end (point)))
    (save-excursion
      (skip-chars-backward "^ \t\n")
      (cond ((eq (char-after) ?@)
             (list (1+ (point)) end (completion-table-dynamic #'outrigger-chat-prompt--files)))
            ((and (eq (char-after) ?/) (bobp))
             (list (1+ (point)) end
                   (mapcar (lambda (command) (aref command 0)) outrigger-chat-prompt--commands)))))))

(defun outrigger-chat-prompt--files (typed)
  "Return the names of files that hold TYPED."
  (cons "selection"
        (append (plist-get (outrigger-companion-call outrigger-chat-prompt--companion :outrigger/daemon/files
                                                (list :typed typed))
                           :files)
                nil)))

(provide 'outrigger-chat-prompt)
;;; outrigger-chat-prompt.el ends here
