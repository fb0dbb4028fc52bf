;;; outrigger-uri.el --- Paths as the protocol writes them  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; File names as URIs.

;;; Code:

(require 'url-util)

(defun outrigger-uri (file)
  "Return the URI of FILE."
  (let ((bytes (encode-coding-string (expand-file-name file)
                                     (or file-name-coding-system default-file-name-coding-system
                                         'utf-8))))
    ;; `url-path-allowed-chars' allows a percent sign.
    (concat "file://" (if (string-prefix-p "/" bytes) "" "/")
            (url-hexify-string bytes (cons ?/ url-unreserved-chars)))))

(provide 'outrigger-uri)
;;; outrigger-uri.el ends here
