;;; outrigger-daemon.el --- What the person says about a daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The variable `outrigger-daemon' as the program takes it.  Only names and
;; types are checked here, because the program would tell of those in the log
;; alone.  Whether an address or a mode can be used is the program's business.

;;; Code:

(require 'subr-x)

(defconst outrigger-daemon--names
  '((:enabled . :enabled) (:url . :url) (:token-file . :tokenFile) (:mode . :mode) (:model . :model))
  "What can be said, and what the program calls it.")

(defun outrigger-daemon-read (said)
  "Return what is sent for SAID and what is wrong with it.
The value is (PARAMS . COMPLAINTS): a plist, which is nil if nothing
is to be sent, and a list of sentences.  After a mistake it says
that there are no conversations: they would go to another daemon
than the one that was meant, or in another mode."
  (cond ((null said) '(nil))
        ((eq said t) '((:daemon t)))
        ((eq said 'never) '((:daemon :json-false)))
        ((and (proper-list-p said) (zerop (mod (length said) 2)))
         (outrigger-daemon--read-plist said))
        (t (outrigger-daemon--off
            '("the option outrigger-daemon has to be nil, t, never or a plist")))))

(defun outrigger-daemon--read-plist (said)
  "Do the work of `outrigger-daemon-read' for the plist SAID."
  (let (sent mistakes unknown)
    (while said
      (let* ((name (pop said))
             (value (pop said))
             (wire (alist-get name outrigger-daemon--names)))
        (cond ((eq name :token)
               (push "the option :token of outrigger-daemon is not taken, because settings are \
copied and shared: write the token to a file that only you can read, and name it in :token-file"
                     mistakes))
              ((null wire)
               (push (format "there is no option %s of outrigger-daemon; known are %s" name
                             (mapconcat (lambda (it) (symbol-name (car it)))
                                        outrigger-daemon--names ", "))
                     unknown))
              ((eq name :enabled)
               (if (booleanp value)
                   (setq sent `(,@sent ,wire ,(or value :json-false)))
                 (push "the option :enabled of outrigger-daemon has to be t or nil" mistakes)))
              ;; What Customize has no value for.
              ((null value))
              ((stringp value)
               (setq sent `(,@sent ,wire ,(if (eq name :token-file)
                                              (outrigger-daemon--without-tilde value)
                                            value))))
              (t (push (format "the option %s of outrigger-daemon has to be a string" name)
                       mistakes)))))
    (if mistakes
        (outrigger-daemon--off (nreverse mistakes) (nreverse unknown))
      (cons (and sent `(:daemon ,sent)) (nreverse unknown)))))

(defun outrigger-daemon--off (mistakes &optional unknown)
  "Return what is sent if there are MISTAKES: no conversations.
UNKNOWN is what else is to be said."
  (cons '(:daemon :json-false)
        (append (mapcar (lambda (it) (concat it ", so there are no conversations")) mistakes) unknown)))

(defun outrigger-daemon--without-tilde (path)
  "Return PATH as the program wants it, which does not know the sign for a home."
  (if (string-prefix-p "~" path)
      (expand-file-name path)
    path))

(provide 'outrigger-daemon)
;;; outrigger-daemon.el ends here
