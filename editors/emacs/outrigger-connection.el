;;; outrigger-connection.el --- The pipe to the program  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A process of `outrigger lsp' and the messages on its pipes, on top of the
;; built-in jsonrpc.  What the messages mean is no concern of this file.

;;; Code:

(require 'cl-lib)
(require 'eieio)
(require 'jsonrpc)

(defun outrigger-connection-open (name command handle log ended)
  "Start COMMAND, and return the connection to it, called NAME.
HANDLE is called with the method and the parameters of each request
and notification, and its value answers the request.  LOG is called
with what belongs in the log, and ENDED with the connection when
the process is gone."
  (let* ((errors (make-pipe-process
                  :name (concat name " errors") :noquery t :sentinel #'ignore
                  :filter (lambda (_ text) (funcall log (string-trim text)))))
         (process (make-process
                   :name name :noquery t :connection-type 'pipe
                   :coding 'utf-8-emacs-unix :stderr errors :command command)))
    (apply #'make-instance 'jsonrpc-process-connection
           :name name :process process
           :request-dispatcher (lambda (_ method params) (funcall handle method params))
           :notification-dispatcher (outrigger-connection--listener handle log)
           :on-shutdown (lambda (connection)
                          (outrigger-connection--clean-up connection process errors)
                          (funcall ended connection))
           (outrigger-connection--no-events))))

(defun outrigger-connection--listener (handle log)
  "Return the function that hands notifications to HANDLE.
An error in one must not lose the messages behind it, so it goes
to LOG: only its kind, because the rest may quote a text."
  (lambda (_connection method params)
    (condition-case problem
        (funcall handle method params)
      (error (funcall log (format "cannot handle %s: %s" method (car problem)))))))

(defun outrigger-connection--no-events ()
  "Return the arguments that keep jsonrpc from logging what is said.
The messages hold the person's texts, and secrets."
  (if (slot-exists-p 'jsonrpc-connection '-events-buffer-config)
      '(:events-buffer-config (:size 0 :format full))
    '(:events-buffer-scrollback-size 0)))

(defun outrigger-connection--clean-up (connection process errors)
  "Remove what is left of CONNECTION, its PROCESS and the pipe with its ERRORS."
  ;; Its last words may say why it ended.
  (while (accept-process-output errors 0.05))
  (delete-process errors)
  (dolist (buffer (list (process-buffer process) (jsonrpc-events-buffer connection)
                        (jsonrpc-stderr-buffer connection)))
    (when (buffer-live-p buffer)
      (kill-buffer buffer))))

(defun outrigger-connection-process (connection)
  "Return the process of CONNECTION."
  (jsonrpc--process connection))

(defun outrigger-connection-close (connection)
  "Ask the process of CONNECTION to exit, and end it if it does not."
  (when (jsonrpc-running-p connection)
    (ignore-errors
      (jsonrpc-request connection :shutdown nil :timeout 2)
      (jsonrpc-notify connection :exit nil)
      (let ((patience 20))
        (while (and (jsonrpc-running-p connection) (> (cl-decf patience) 0))
          (accept-process-output (outrigger-connection-process connection) 0.1))))
    (jsonrpc-shutdown connection)))

(defun outrigger-connection-leave (connection)
  "Say goodbye to the process of CONNECTION, and wait for nothing."
  (ignore-errors
    (jsonrpc-async-request connection :shutdown nil)
    (jsonrpc-notify connection :exit nil)))

(defun outrigger-connection-running-p (connection)
  "Return non-nil if the process of CONNECTION is alive."
  (and connection (jsonrpc-running-p connection)))

(defun outrigger-connection-notify (connection method params)
  "Send the notification METHOD with PARAMS over CONNECTION."
  (jsonrpc-notify connection method params))

(defun outrigger-connection-request (connection method params done failed)
  "Send the request METHOD with PARAMS over CONNECTION.
DONE is called with the result, FAILED with the message of an error.
It may take as long as it takes."
  (jsonrpc-async-request connection method params
                         :timeout nil
                         :success-fn done
                         :error-fn (lambda (problem) (funcall failed (plist-get problem :message)))))

(defun outrigger-connection-call (connection method params)
  "Return the result of the request METHOD with PARAMS over CONNECTION.
The value is nil if there is none within a second."
  (ignore-errors
    (jsonrpc-request connection method params :timeout 1)))

(provide 'outrigger-connection)
;;; outrigger-connection.el ends here
