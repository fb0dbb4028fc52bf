;;; outrigger-chat-tests.el --- Tests of conversations  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Conversations with a daemon, as the companion tells them.

;;; Code:

(require 'outrigger-tests)

(defun outrigger-chat-tests--hear (what &rest params)
  "Let the only companion hear WHAT of the daemon, with PARAMS."
  (outrigger-companion-handle (car outrigger-companions) (intern (concat "outrigger/daemon/" what)) params))

(defun outrigger-chat-tests--change (change &rest params)
  "Let the only companion hear of CHANGE, with PARAMS."
  (apply #'outrigger-chat-tests--hear "change" :change change params))

(defun outrigger-chat-tests--said (id speaker text)
  "Return entry ID: SPEAKER said TEXT."
  (list :id id :kind "said" :speaker speaker :text text))

(defun outrigger-chat-tests--all (entries &optional status requests)
  "Let the only companion hear of ENTRIES and REQUESTS.
STATUS goes before the usual one."
  (outrigger-chat-tests--hear
   "all" :shortened :json-false :requests (vconcat requests) :entries (vconcat entries)
   :status `(,@status :connection (:state "live") :title "Tea" :busy :json-false
             :place (:machine "elm" :workspace (:daemonPath "/w")
                     :locality ["Files, MCP servers, skills and credentials are those of elm:/w."])
             :model "m" :mode "plan" :models [(:id "m" :name "M") (:id "n" :name "N")])))

(defmacro outrigger-chat-tests--conversing (&rest body)
  "Run BODY in a conversation, in its buffer."
  (declare (indent 0) (debug t))
  `(outrigger-tests--listening
     (outrigger-chat)
     (let ((buffer (outrigger-chat--find (car outrigger-companions))))
       (unwind-protect
           (with-current-buffer buffer
             (outrigger-chat-tests--all nil)
             ,@body)
         (when (buffer-live-p buffer)
           (kill-buffer buffer))))))

(defconst outrigger-chat-tests--head
  "Tea\nFiles, MCP servers, skills and credentials are those of elm:/w.\n\n")

(defun outrigger-chat-tests--text ()
  "Return everything below the head."
  (string-remove-prefix outrigger-chat-tests--head
                        (buffer-substring-no-properties (point-min) (point-max))))

(ert-deftest outrigger-chat-tests-a-conversation-is-put-together ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all (list (outrigger-chat-tests--said 1 "me" "hello")
                                     (outrigger-chat-tests--said 2 "agent" "Hi ")))
    (outrigger-chat-tests--change "append" :id 2 :text "there")
    (dolist (status '("in_progress" "completed"))
      (outrigger-chat-tests--change
       "put" :entry `(:id 3 :kind "tool"
                      :tool (:id "t" :title "Shell" :status ,status :command "ls" :files []))))
    (outrigger-chat-tests--change
     "put" :entry '(:id 4 :kind "plan" :steps [(:text "tea" :status "completed") (:text "milk")]))
    (outrigger-chat-tests--change "put" :entry '(:id 5 :kind "ended" :how "cancelled"))
    (should (equal (outrigger-chat-tests--text)
                   (concat "You\nhello\n\nAgent\nHi there\n\n▸ Shell ls: completed\n  $ ls\n\n"
                           "Plan\n- [x] tea\n- [ ] milk\n\n-- the turn was cancelled --\n\n")))
    (should (equal (outrigger-chat--header) " connected  elm:/w  M, plan"))
    (outrigger-chat-tests--change "shorten" :first 5)
    (outrigger-chat-tests--change "put" :entry (outrigger-chat-tests--said 6 "agent" "more"))
    (outrigger-chat-tests--change "append" :id 6 :text "\nand more")
    (should (string-suffix-p (concat "-- what was said before is not kept --\n\n"
                                     "-- the turn was cancelled --\n\nAgent\nmore\nand more\n\n")
                             (buffer-string)))
    (outrigger-chat-tests--change "clear")
    (should (equal (outrigger-chat-tests--text) ""))))

(ert-deftest outrigger-chat-tests-a-text-is-shown-and-not-obeyed ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all
     (list (outrigger-chat-tests--said 1 "agent" "\e[2J \u202eevil\r\n%s"))
     '(:title "one\ntwo" :model "100%b"))
    (should (string-search "\e[2J <U+202E>evil\n%s\n" (buffer-string)))
    (should (string-prefix-p "one two\n" (buffer-string)))
    (should (string-search "100%%b" (outrigger-chat--header)))
    (should buffer-read-only)))

(ert-deftest outrigger-chat-tests-the-header-fits-and-says-what-the-agent-does ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all
     nil '(:busy t :usage (:size 100 :used 12)
           :place (:machine "elm" :workspace (:daemonPath "/home/ada/a/long/way/down"))))
    (pcase-dolist (`(,room ,header)
                   '((80 " connected  elm:/home/ada/a/long/way/down  M, plan, 12%% used, working")
                     (65 " connected  elm:/home/ada/a/long/way/down  M, plan, working")
                     (56 " connected  elm:/home/ada/a/long/way/down, plan, working")
                     (30 " connected  …wn, plan, working")
                     (25 " connected, plan, working")
                     (5 " conn")))
      (should (equal (outrigger-chat-status-header (car outrigger-companions)
                                                   outrigger-chat--status room)
                     header)))))

(ert-deftest outrigger-chat-tests-the-header-says-when-the-agent-may-not-ask ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all nil '(:unasking t :mode "yolo" :busy t))
    (pcase-dolist (`(,room ,header)
                   '((60 " connected  elm:/w  M, yolo (may not ask), working")
                     (30 " connected, yolo!, working")))
      (let ((shown (outrigger-chat-status-header (car outrigger-companions)
                                                 outrigger-chat--status room)))
        (should (equal (substring-no-properties shown) header))
        (should (eq (get-text-property (string-search "yolo" shown) 'face shown) 'warning))
        (should-not (get-text-property 1 'face shown))))
    (outrigger-chat-tests--all nil '(:mode nil))
    (should (equal (outrigger-chat--header) " connected  elm:/w  M, mode not known"))
    (outrigger-chat-tests--all nil '(:mode nil :connection (:state "lost")))
    (should (equal (outrigger-chat--header) " disconnected  elm:/w  M"))))

(ert-deftest outrigger-chat-tests-the-head-has-the-words-of-the-program ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all
     nil '(:place (:workspace (:daemonPath "/w")
                   :locality ["It runs on elm." "So do\nits \u202efiles."])))
    (should (equal (buffer-substring-no-properties (point-min) (point-max))
                   "Tea\nIt runs on elm.\nSo do its <U+202E>files.\n\n"))))

(ert-deftest outrigger-chat-tests-what-is-not-text-is-a-line ()
  (outrigger-chat-tests--conversing
    (let ((missing
           "-- something is not shown here, because this package does not know it: %s --"))
      (outrigger-chat-tests--all
       (list '(:id 1 :kind "attached" :speaker "other" :text "a (file:///\u202ea)"
               :attachment (:type "link" :name "a" :uri "file:///\u202ea"))
             (outrigger-chat-tests--said 2 "task" "tests")
             (outrigger-chat-tests--said 3 "oracle" "beware")
             '(:id 4 :kind "attached" :speaker "oracle" :text "a picture")
             '(:id 5 :kind "dance" :text "one\ntwo")
             '(:id 6 :kind "dance\u202e" :steps 3)))
      (outrigger-chat-tests--change
       "put" :entry '(:id 7 :kind "tool"
                      :tool (:id "t" :content [(:type "attachment" :text "a picture")
                                               (:type "hologram" :text "a ghost")
                                               (:type "hologram")])))
      (should (equal (outrigger-chat-tests--text)
                     (concat "You, elsewhere, attached\na (file:///<U+202E>a)\n\n"
                             "Background task\ntests\n\noracle\nbeware\n\n"
                             "oracle, attached\na picture\n\n-- one two --\n\n"
                             (format missing "dance<U+202E>") "\n\n"
                             "▸ t: pending\n  a picture\n  a ghost\n  "
                             (format missing "hologram") "\n\n"))))))

(ert-deftest outrigger-chat-tests-an-answer-is-shown-in-one-line-and-sent-as-it-is ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--change
     "requests"
     :requests [(:request "q" :title "Asks" :tool (:id "t")
                 :questions [(:question "Which?" :answers [["Tea\nMilk" "hot"]])])])
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_ offered &rest _)
                 (should (equal offered '("Tea Milk")))
                 (car offered))))
      (outrigger-chat-answer))
    (should (equal (outrigger-chat-tests--answers)
                   '((:request "q" :reply (:answers [["Tea\nMilk"]])))))))

(ert-deftest outrigger-chat-tests-whoever-reads-is-not-disturbed ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all (list (outrigger-chat-tests--said 1 "me" "hello")
                                     (outrigger-chat-tests--said 2 "agent" "Hi")))
    (let ((window (get-buffer-window)))
      (set-window-point window (point-max))
      (outrigger-chat-tests--change "append" :id 2 :text " there")
      (outrigger-chat-tests--change "put" :entry (outrigger-chat-tests--said 3 "agent" "?"))
      (should (= (window-point window) (point-max)))
      (set-window-point window 5)
      (outrigger-chat-tests--change "append" :id 3 :text "!")
      (should (= (window-point window) 5)))))

(ert-deftest outrigger-chat-tests-an-append-changes-its-own-place-only ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all
     (mapcar (lambda (id) (outrigger-chat-tests--said id "agent" "line")) (number-sequence 1 2000)))
    (let (changed)
      (add-hook 'after-change-functions (lambda (&rest change) (push change changed)) nil t)
      (let ((end (point-max)))
        (outrigger-chat-tests--change "append" :id 2000 :text " goes on")
        (should (equal changed `((,(- end 2) ,(+ end 6) 0))))))))

(ert-deftest outrigger-chat-tests-thoughts-are-folded ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all (list (outrigger-chat-tests--said 1 "thought" "hm")))
    (outrigger-chat-tests--change "append" :id 1 :text "\nhm")
    (should (equal (outrigger-chat-tests--text) "▸ Thinking\n  hm\n  hm\n\n"))
    (goto-char (point-min))
    (search-forward "Thinking")
    (let ((hidden (lambda () (seq-filter (lambda (at) (invisible-p at))
                                         (number-sequence (point-min) (1- (point-max)))))))
      (should (= (length (funcall hidden)) (length "\n  hm\n  hm")))
      (outrigger-transcript-toggle)
      (should-not (funcall hidden))
      (forward-line)
      (outrigger-transcript-toggle)
      (should (funcall hidden)))))

(ert-deftest outrigger-chat-tests-trouble-and-requests-are-told-below ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all
     nil '(:connection (:state "failed" :trouble "no_daemon" :why "none" :hint "run one")
           :queue [(:prompt "p" :text "later")]))
    (should (equal (outrigger-chat-tests--text)
                   (concat "! none\n! run one\n! c tries again, or starts a daemon in this folder\n"
                           "… later\n")))))

(ert-deftest outrigger-chat-tests-what-is-written-is-said ()
  (outrigger-chat-tests--conversing
    (with-current-buffer (outrigger-chat-prompt-buffer (car outrigger-companions))
      (insert "two\nlines\n")
      (outrigger-prompt-send)
      (should (equal (outrigger-tests--heard :outrigger/daemon/prompt)
                     '((:text "two\nlines" :mentions t))))
      (should (zerop (buffer-size)))
      (should-error (outrigger-prompt-send) :type 'user-error)
      (outrigger-chat-prompt--restore (current-buffer) "again")
      (outrigger-chat-prompt--restore (current-buffer) "and again")
      (should (equal (buffer-string) "again")))))

(ert-deftest outrigger-chat-tests-files-and-commands-are-completed ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--all nil '(:commands [["compress" "shortens it"] ["clear" nil]]))
    (cl-letf (((symbol-function 'outrigger-companion-call)
               (lambda (&rest _) '(:files ["src/main.rs"]))))
      (with-current-buffer (outrigger-chat-prompt-buffer (car outrigger-companions))
        (pcase-dolist (`(,typed ,wanted)
                       '(("look at @src" "look at @src/main.rs") ("/com" "/compress")
                         ("and /com" "and /com")))
          (erase-buffer)
          (insert typed)
          (completion-at-point)
          (should (equal (buffer-string) wanted)))))))

(defconst outrigger-chat-tests--leave
  '(:request "r" :title "Run it?" :tool (:command "ls")
    :options [(:id "once" :title "Yes" :lasts :json-false) (:id "no" :title "No" :lasts :json-false)
              (:id "all" :title "Always" :lasts t)]))

(defun outrigger-chat-tests--answers ()
  "Return what was answered so far."
  (outrigger-tests--heard :outrigger/daemon/answer))

(ert-deftest outrigger-chat-tests-requests-are-answered-in-the-minibuffer ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--change
     "requests" :requests (vector outrigger-chat-tests--leave
                                  '(:request "e" :title "Edit" :proposal 3)))
    (should (string-search "? Run it? (a)\n? Edit (" (buffer-string)))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (prompt choices &rest _)
                 (should (equal prompt "Run it? (ls): "))
                 (should (equal (completion-metadata-get (completion-metadata "" choices nil)
                                                         'display-sort-function)
                                #'identity))
                 (should (equal (all-completions "" choices)
                                '("Yes" "No" "Always (and not asked again)")))
                 "Yes")))
      (outrigger-chat-answer))
    (should (equal (outrigger-chat-tests--answers) '((:request "r" :reply (:option "once")))))
    (outrigger-chat-decline)
    (should (equal (car (last (outrigger-chat-tests--answers)))
                   '(:request "r" :reply "decline")))))

(ert-deftest outrigger-chat-tests-what-is-not-reviewed-stands-in-the-question ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--change
     "requests" :requests (vector `(:unreviewed "Edits go unseen." ,@outrigger-chat-tests--leave)))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (prompt &rest _)
                 (should (equal prompt "Run it? (ls) [Edits go unseen.]: "))
                 "No")))
      (outrigger-chat-answer))
    (should (equal (outrigger-chat-tests--answers) '((:request "r" :reply (:option "no")))))))

(ert-deftest outrigger-chat-tests-nothing-is-decided-by-not-choosing ()
  (outrigger-chat-tests--conversing
    (outrigger-chat-tests--change "requests" :requests (vector outrigger-chat-tests--leave))
    (dolist (read (list (lambda (&rest _) "")
                        (lambda (&rest _) (signal 'quit nil))
                        ;; Somebody else answers meanwhile.
                        (lambda (&rest _)
                          (with-current-buffer (outrigger-chat--find (car outrigger-companions))
                            (outrigger-chat-tests--change "requests" :requests []))
                          "Yes")))
      (cl-letf (((symbol-function 'completing-read) read))
        (outrigger-chat-answer)))
    (should-not (outrigger-chat-tests--answers))
    (should-error (outrigger-chat-answer) :type 'user-error)))

(ert-deftest outrigger-chat-tests-questions-take-one-answer-several-and-own-words ()
  (outrigger-chat-tests--conversing
    (let ((typed '("Tea" "Milk" "Tea" "Water, cold" "Tea" "")))
      (outrigger-chat-tests--change
       "requests"
       :requests [(:request "q" :title "Asks" :tool (:id "t")
                   :questions [(:question "Which?" :answers [["Tea" "hot"] ["Milk" nil]])
                               (:question "What else?" :several t
                                :answers [["Tea" "hot"] ["Milk" nil]])])])
      (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) (pop typed))))
        (outrigger-chat-answer))
      (should (equal (outrigger-chat-tests--answers)
                     '((:request "q" :reply (:answers [["Tea"] ["Milk" "Water, cold"]]))))))))

(ert-deftest outrigger-chat-tests-an-edit-can-only-be-taken-as-it-is ()
  (outrigger-tests--listening
    (let ((review (outrigger-tests--propose companion "one\n" "two\n" :editable :json-false)))
      (with-current-buffer (outrigger-review-view review)
        (should-not (string-search "drops" (outrigger-diff--header)))
        (goto-char (point-min))
        (diff-hunk-next)
        (should-error (outrigger-diff-drop-hunk) :type 'user-error)
        (should (buffer-local-value 'buffer-read-only (outrigger-review-proposed review)))
        (outrigger-accept))
      (should (equal (outrigger-tests--verdict) '(t nil))))))

;;; What the person says about a daemon

(ert-deftest outrigger-chat-tests-what-is-said-of-a-daemon-is-sent-and-what-is-wrong-is-told ()
  (let ((all '(:enabled nil :url "http://127.0.0.1:1" :token-file "/t" :mode "plan" :model "m"))
        (wire '(:enabled :json-false :url "http://127.0.0.1:1" :tokenFile "/t" :mode "plan" :model "m")))
    ;; What the person says, what is sent, and what each complaint has to name.
    (pcase-dolist (`(,said ,sent . ,parts)
                   `((nil nil)
                     (t t)
                     (never :json-false)
                     (,all ,wire)
                     ((:enabled t) (:enabled t))
                     ((:url nil) nil)
                     ((:token-file "~/t") (:tokenFile ,(expand-file-name "~/t")))
                     ("yes" :json-false "outrigger-daemon has to be nil, t, never or a plist")
                     ((:url) :json-false "outrigger-daemon has to be nil, t, never or a plist")
                     ((:enabled 1 :url "u") :json-false ":enabled of outrigger-daemon has to be t or nil")
                     ((:url 1 :mode "plan") :json-false ":url of outrigger-daemon has to be a string")
                     ((:token-file t) :json-false ":token-file of outrigger-daemon has to be a string")
                     ((:mode plan) :json-false ":mode of outrigger-daemon has to be a string")
                     ((:model 1) :json-false ":model of outrigger-daemon has to be a string")
                     ((:url "u" :tokenFile "/t") (:url "u") "no option :tokenFile of outrigger-daemon")
                     (("url" 1) nil "no option url of outrigger-daemon")))
      (pcase-let ((`(,params . ,complaints) (outrigger-daemon-read said)))
        (should (equal (list said (plist-get params :daemon)) (list said sent)))
        (should (equal (list said (length complaints)) (list said (length parts))))
        (cl-mapc (lambda (part complaint) (should (string-search part complaint))) parts complaints)
        (should (equal (list said (and (eq sent :json-false) parts t))
                       (list said (and complaints
                                       (string-suffix-p ", so there are no conversations"
                                                        (car complaints))))))))))

(ert-deftest outrigger-chat-tests-a-token-is-neither-sent-nor-repeated ()
  (pcase-let ((`(,params . ,complaints) (outrigger-daemon-read '(:enabled t :token "hunter2"))))
    (should (equal params '(:daemon :json-false)))
    (should (equal (length complaints) 1))
    (should (string-search ":token-file" (car complaints)))
    (should-not (string-search "hunter2" (car complaints)))))

(ert-deftest outrigger-chat-tests-the-companion-is-told-what-is-said-of-a-daemon ()
  (let ((outrigger-agents '("qwen"))
        (companion (outrigger-companion--make "/w/"))
        outrigger-companion--told-mistakes told)
    (cl-letf (((symbol-function 'outrigger-companion--warn) (lambda (text) (push text told))))
      (pcase-dolist (`(,outrigger-daemon ,sent)
                     '((nil nil)
                       (t (:daemon t))
                       (never (:daemon :json-false))
                       ((:url "u" :token-file "/t") (:daemon (:url "u" :tokenFile "/t")))
                       ;; A mistake, twice, is told once and leaves the rest as it is.
                       ((:url 1) (:daemon :json-false))
                       ((:url 1) (:daemon :json-false))))
        (should (equal (plist-get (outrigger-tests--on-the-wire
                                   (outrigger-companion--initialize-params companion))
                                  :initializationOptions)
                       `(:agents ["qwen"] :ignore [] ,@sent)))))
    (should (equal (length told) 1))))

(provide 'outrigger-chat-tests)
;;; outrigger-chat-tests.el ends here
