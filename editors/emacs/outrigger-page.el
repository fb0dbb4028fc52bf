;;; outrigger-page.el --- The companion's page in a browser  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The page shows every proposal, and what agents see.

;;; Code:

(require 'outrigger-workspace)

;;;###autoload
(defun outrigger-open-page ()
  "Open the page with all proposals in a browser."
  (interactive)
  (outrigger-companion-request (outrigger-workspace-here) :outrigger/page nil
                               (lambda (page) (browse-url (plist-get page :url)))))

(provide 'outrigger-page)
;;; outrigger-page.el ends here
