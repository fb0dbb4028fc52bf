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
        ;; Its file has changed, or the companion was started again; the person may be in the
        ;; middle of it.
        (outrigger-proposals--await known params)
      (let ((review (outrigger-review-read companion params)))
        (setq outrigger-proposals (append (remq known outrigger-proposals) (list review)))
        (when known
          (outrigger-review-close known))
        (run-with-timer 0 nil #'outrigger-proposals--opened review))))
  '(:opened t))

(cl-defmethod outrigger-companion-handle (companion (_method (eql 'outrigger/proposal/text)) params)
  "Answer what the person has made of the proposal that PARAMS of COMPANION name."
  (when-let* ((review (outrigger-proposals--find companion (plist-get params :id)))
              (text (outrigger-proposals--typed review)))
    (setf (outrigger-review-answered review) text)
    (list :text text)))

(cl-defmethod outrigger-companion-handle (companion (_method (eql 'outrigger/proposal/close)) params)
  "Put the proposal of COMPANION that PARAMS name away, and answer with its text."
  (when-let ((review (outrigger-proposals--find companion (plist-get params :id))))
    (setq outrigger-proposals (remq review outrigger-proposals))
    (run-with-timer 0 nil #'outrigger-proposals--closed review (plist-get params :message)
                    (plist-get params :outcome))
    (let ((text (outrigger-review-text review)))
      (unless (equal text (outrigger-review-told review))
        (list :text text)))))

(defun outrigger-proposals-keep-pending (companion)
  "Put away what is no longer pending after COMPANION came back."
  (dolist (review outrigger-proposals)
    (when (eq companion (outrigger-review-companion review))
      ;; Of the revisions so far it knows only the first one.
      (setf (outrigger-review-told review) nil
            (outrigger-review-waiting review) nil
            (outrigger-review-answered review) nil
            (outrigger-review-lost review) (> (outrigger-review-revision review) 1))))
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
    (message "%s%s" (outrigger-review-describe review)
             (if-let ((stale (outrigger-review-stale review))) (concat ": " stale) ""))
    (setf (outrigger-review-warned review) (outrigger-review-stale review))
    (when (outrigger-proposals--frame-p)
      (outrigger-review-show review (eq outrigger-select-proposal 'always))
      (when (eq outrigger-select-proposal t)
        (outrigger-interrupt-await (lambda () (memq review outrigger-proposals))
                                   (lambda () (outrigger-review-show review t)))))
    (run-hook-with-args 'outrigger-proposal-opened-functions review)))

(defun outrigger-proposals--closed (review &optional message outcome)
  "Put REVIEW away, which is over.
MESSAGE says how, to a person who has not decided it here, and
OUTCOME in a word."
  (when (and message (not (outrigger-review-decided review)))
    (message "%s" message))
  (outrigger-review-close review)
  ;; What was accepted has the unsaved changes in it that the original had.
  (outrigger-reload-expect (outrigger-review-path review)
                           (and (equal outcome "accepted") (outrigger-review-before review)))
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
       companion :outrigger/proposal/update
       (list :id (outrigger-review-id review) :text text
             :revision (outrigger-review-revision review))
       (lambda (result)
         ;; If the person has typed on, there will be another answer.
         (when (equal text (outrigger-review-told review))
           (outrigger-review-compared review text (plist-get result :hunks))))))))

(add-hook 'outrigger-review-edited-functions #'outrigger-proposals--edited)

;;; Other texts

(defconst outrigger-proposals--pause 0.1
  "How often in seconds to look whether a command was typed to its end.")

(defun outrigger-proposals--typed (review)
  "Return what the person has made of REVIEW, or nil if that is nothing."
  (let ((text (or (outrigger-review-text review) (car (outrigger-review-draft review)))))
    (unless (equal text (outrigger-review-after review))
      text)))

(defun outrigger-proposals--await (review params)
  "Have PARAMS, the newest that the companion has for REVIEW, taken over soon.
Nothing else waits then: an older text that came later would make
every verdict stale."
  (setf (outrigger-review-waiting review) params)
  (unless (outrigger-review-looking review)
    (outrigger-proposals--look-in review 0)))

(defun outrigger-proposals--look-in (review seconds)
  "Look in SECONDS whether what waits for REVIEW can be taken over."
  (setf (outrigger-review-looking review)
        (run-with-timer seconds nil #'outrigger-proposals--revise-soon review)))

(defun outrigger-proposals--revise-soon (review)
  "Take over what waits for REVIEW.
While the person types a command nothing changes under it: to accept
means what they have seen."
  (if (and (outrigger-review-shown-p review) (outrigger-interrupt-in-command-p))
      (outrigger-proposals--look-in review outrigger-proposals--pause)
    (let ((params (outrigger-review-waiting review)))
      (setf (outrigger-review-waiting review) nil
            (outrigger-review-looking review) nil)
      (when params
        (outrigger-proposals--revise review params)))))

(defun outrigger-proposals--revise (review params)
  "Take over PARAMS, what the companion has for REVIEW by now.
If the person has typed more than it knows, because they go on
typing, that is brought into the new text first."
  (when (memq review outrigger-proposals)
    (let ((typed (outrigger-proposals--typed review)))
      (cond ((equal (outrigger-review-before review) (plist-get params :original))
             (outrigger-review-take-facts review params)
             (setf (outrigger-review-told review) (plist-get params :proposed))
             (outrigger-proposals--edited review))
            ((or (null typed) (equal typed (outrigger-review-answered review)))
             (outrigger-proposals--replace review params))
            ((outrigger-review-lost review)
             (outrigger-proposals--keep-apart review params typed))
            (t
             (outrigger-proposals--bring review params typed))))))

(defun outrigger-proposals--bring (review params typed)
  "Have TYPED, what the person has made of REVIEW, brought into the text of PARAMS."
  (let ((companion (outrigger-review-companion review))
        (id (outrigger-review-id review)))
    (outrigger-companion-request
     companion :outrigger/proposal/update
     (list :id id :text typed :revision (outrigger-review-revision review))
     (lambda (_)
       (outrigger-companion-request
        companion :outrigger/proposal/list nil
        (lambda (result)
          (when-let ((found (seq-find (lambda (it) (eql id (plist-get it :id)))
                                      (plist-get result :proposals))))
            (setf (outrigger-review-answered review) typed)
            (outrigger-proposals--revise review found)))))
     (lambda (_)
       (when (memq review outrigger-proposals)
         (outrigger-proposals--keep-apart review params typed))))))

(defun outrigger-proposals--replace (review params)
  "Show the texts of PARAMS for REVIEW, and say once why."
  (outrigger-review-revise review params)
  (let ((stale (outrigger-review-stale review)))
    (when (and stale (not (equal stale (outrigger-review-warned review))))
      (message "%s: %s" (outrigger-review-name review) stale))
    (setf (outrigger-review-warned review) stale)))

(defun outrigger-proposals--keep-apart (review params typed)
  "Show the texts of PARAMS for REVIEW, without TYPED.
That is where the person can yank it from."
  (kill-new typed)
  (outrigger-proposals--replace review params)
  (message "%s has changed too much for what you had typed; %s inserts your text"
           (outrigger-review-name review) (substitute-command-keys "\\[yank]")))

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
  (let ((text (outrigger-review-text review)))
    ;; Without a text it is the companion's own, byte for byte.
    (outrigger-proposals--decide
     review (if (equal text (outrigger-review-told review))
                '(:accepted t)
              (list :accepted t :text text)))))

(defun outrigger-proposals--reject (review)
  "Reject REVIEW."
  (outrigger-proposals--decide review '(:accepted :json-false)))

(defun outrigger-proposals--decide (review verdict)
  "Send VERDICT on REVIEW; the companion puts it away when it has taken it."
  (outrigger-companion-request
   (outrigger-review-companion review) :outrigger/proposal/verdict
   `(:id ,(outrigger-review-id review) :revision ,(outrigger-review-revision review) ,@verdict)
   (lambda (result) (message "%s" (plist-get result :message)))
   (lambda (_) (setf (outrigger-review-decided review) nil)))
  (setf (outrigger-review-decided review) t))

(provide 'outrigger-proposals)
;;; outrigger-proposals.el ends here
