;;; outrigger-proposals.el --- The proposals that are pending  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Proposals come, are shown, are decided, and are over.  The person accepts or
;; rejects; the agent writes the file.  Nothing here does.

;;; Code:

(require 'outrigger-companion)
(require 'outrigger-config)
(require 'outrigger-interrupt)
(require 'outrigger-reload)
(require 'outrigger-review)

(defvar outrigger-proposals nil
  "The reviews of the proposals that are pending, oldest first.")

;;; What the companion says

(cl-defmethod outrigger-companion-handle (companion (_method (eql 'outrigger/proposal/open)) params)
  "Show the proposal of COMPANION that PARAMS describe, and answer at once."
  (let ((known (outrigger-proposals--find companion (plist-get params :id))))
    (if (and known (equal (outrigger-review-session known) (plist-get params :session)))
        ;; The companion was started again; the person may be in the middle of it.
        (progn
          (setf (outrigger-review-told known) (plist-get params :proposed))
          (run-with-timer 0 nil #'outrigger-proposals--edited known))
      (let ((review (outrigger-review-read companion params)))
        (setq outrigger-proposals (append (remq known outrigger-proposals) (list review)))
        (when known
          (outrigger-review-close known))
        (run-with-timer 0 nil #'outrigger-proposals--opened review))))
  '(:opened t))

(cl-defmethod outrigger-companion-handle (companion (_method (eql 'outrigger/proposal/close)) params)
  "Put the proposal of COMPANION that PARAMS name away, and answer with its text."
  (when-let ((review (outrigger-proposals--find companion (plist-get params :id))))
    (setq outrigger-proposals (remq review outrigger-proposals))
    (run-with-timer 0 nil #'outrigger-proposals--closed review (plist-get params :message))
    (let ((text (outrigger-review-text review)))
      (unless (equal text (outrigger-review-told review))
        (list :text text)))))

(defun outrigger-proposals-keep-pending (companion)
  "Put away what is no longer pending after COMPANION came back."
  (dolist (review outrigger-proposals)
    (when (eq companion (outrigger-review-companion review))
      (setf (outrigger-review-told review) nil)))
  (outrigger-companion-request
   companion :outrigger/proposal/list nil
   (lambda (result)
     (let* ((pending (mapcar (lambda (it) (plist-get it :id)) (plist-get result :proposals)))
            (lost (seq-filter (lambda (review)
                                (and (eq companion (outrigger-review-companion review))
                                     (not (memql (outrigger-review-id review) pending))))
                              outrigger-proposals)))
       (setq outrigger-proposals (seq-difference outrigger-proposals lost #'eq))
       (mapc #'outrigger-proposals--closed lost)))))

(defun outrigger-proposals-forget-all ()
  "Put every review away, undecided."
  (while outrigger-proposals
    (outrigger-review-close (pop outrigger-proposals))))

(defun outrigger-proposals--find (companion id)
  "Return the review of the proposal ID of COMPANION."
  (seq-find (lambda (review)
              (and (eq companion (outrigger-review-companion review))
                   (eql id (outrigger-review-id review))))
            outrigger-proposals))

(defun outrigger-proposals--opened (review)
  "Show REVIEW, which has just come."
  (when (memq review outrigger-proposals)
    (message "%s" (outrigger-review-describe review))
    (when (outrigger-proposals--frame-p)
      (outrigger-review-show review (eq outrigger-select-proposal 'always))
      (when (eq outrigger-select-proposal t)
        (outrigger-interrupt-await (lambda () (memq review outrigger-proposals))
                                   (lambda () (outrigger-review-show review t)))))
    (run-hook-with-args 'outrigger-proposal-opened-functions review)))

(defun outrigger-proposals--closed (review &optional message)
  "Put REVIEW away, which is over.
MESSAGE says how, to a person who has not decided it here."
  (when (and message (not (outrigger-review-decided review)))
    (message "%s" message))
  (outrigger-review-close review)
  (outrigger-reload-expect (outrigger-review-path review))
  (run-hook-with-args 'outrigger-proposal-closed-functions review))

(defun outrigger-proposals--frame-p ()
  "Return non-nil if there is somebody to show something to.
A daemon starts with a frame that nobody sees."
  (not (and (daemonp) (equal (terminal-name (frame-terminal)) "initial_terminal"))))

(defun outrigger-proposals-show-first ()
  "Show what came while the daemon had no frame to show it in."
  (when outrigger-proposals
    (outrigger-review-show (car outrigger-proposals) nil)))

(defun outrigger-proposals--edited (review)
  "Tell the companion what the person has made of REVIEW, and ask for its hunks.
One that does not run is told when it runs again."
  (let ((companion (outrigger-review-companion review))
        (text (outrigger-review-text review)))
    (unless (or (not (memq review outrigger-proposals))
                (not (outrigger-companion-running-p companion))
                (and (equal text (outrigger-review-told review))
                     (equal text (car (outrigger-review-draft review)))))
      (setf (outrigger-review-told review) text)
      (outrigger-companion-request
       companion :outrigger/proposal/update (list :id (outrigger-review-id review) :text text)
       (lambda (result)
         ;; If the person has typed on, there will be another answer.
         (when (equal text (outrigger-review-told review))
           (outrigger-review-compared review text (plist-get result :hunks))))))))

(add-hook 'outrigger-review-edited-functions #'outrigger-proposals--edited)

;;; Deciding

;;;###autoload
(defun outrigger-show ()
  "Go to a proposal that is pending."
  (interactive)
  (outrigger-review-show (outrigger-proposals--choose "Show: ") t))

;;;###autoload
(defun outrigger-accept ()
  "Accept a proposal, with what you have made of it."
  (interactive)
  (outrigger-proposals--accept (outrigger-proposals--choose "Accept: ")))

;;;###autoload
(defun outrigger-reject ()
  "Reject a proposal."
  (interactive)
  (outrigger-proposals--reject (outrigger-proposals--choose "Reject: ")))

(defun outrigger-proposals--choose (prompt)
  "Return the review that the person means, asked for with PROMPT if need be."
  (or (and (memq outrigger-review-current outrigger-proposals) outrigger-review-current)
      (pcase outrigger-proposals
        ('nil (user-error "No proposal is pending"))
        (`(,only) only)
        (_ (let ((names (mapcar (lambda (review)
                                  (cons (format "%d: %s" (outrigger-review-id review)
                                                (outrigger-review-describe review))
                                        review))
                                outrigger-proposals)))
             (cdr (assoc (completing-read prompt names nil t) names)))))))

(defun outrigger-proposals--accept (review)
  "Accept REVIEW as the person has it now."
  (when (or (not (outrigger-review-stale-p review))
            (yes-or-no-p (format "%s was written since the agent read it; overwrite it? "
                                 (outrigger-review-name review))))
    (let ((text (outrigger-review-text review)))
      ;; Without a text it is the companion's own, byte for byte.
      (outrigger-proposals--decide
       review (if (equal text (outrigger-review-told review))
                  '(:accepted t)
                (list :accepted t :text text))))))

(defun outrigger-proposals--reject (review)
  "Reject REVIEW."
  (outrigger-proposals--decide review '(:accepted :json-false)))

(defun outrigger-proposals--decide (review verdict)
  "Send VERDICT on REVIEW; the companion puts it away when it has taken it."
  (outrigger-companion-request
   (outrigger-review-companion review) :outrigger/proposal/verdict
   `(:id ,(outrigger-review-id review) ,@verdict)
   (lambda (result) (message "%s" (plist-get result :message)))
   (lambda (_) (setf (outrigger-review-decided review) nil)))
  (setf (outrigger-review-decided review) t))

(provide 'outrigger-proposals)
;;; outrigger-proposals.el ends here
