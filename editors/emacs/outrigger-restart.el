;;; outrigger-restart.el --- When a companion is started again  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; When a companion that ended by itself is started again.  The rule is the
;; same in all plugins, see editors/README.md.

;;; Code:

(defconst outrigger-restart--waits '(0.25 0.5 1 2 4)
  "How long to wait before each start, in seconds.
There is no start after the last.")

(defconst outrigger-restart--sound 60
  "A companion that ran for so many seconds was sound.
The ends before it do not count any more.")

(defun outrigger-restart-after-end (failures ran)
  "Return what follows when a companion has ended after RAN seconds.
FAILURES others in a row have ended before it.  The value is
a cons of the number in a row now and how many seconds to wait,
or nil for the second if it is given up."
  (let ((failures (if (>= ran outrigger-restart--sound) 0 failures)))
    (cons (1+ failures) (nth failures outrigger-restart--waits))))

(provide 'outrigger-restart)
;;; outrigger-restart.el ends here
