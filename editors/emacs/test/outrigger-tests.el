;;; outrigger-tests.el --- Tests of the package  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Tests that need no agent.  Those of the companion run the program that the
;; variable OUTRIGGER_PROGRAM names; the others listen to what the package
;; would say to it.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'compile)
(require 'flymake)
(require 'rect)
(require 'shell)
;; A test replaces its handler, which must not be loaded later then.
(require 'tramp)
(require 'outrigger)

;;; A workspace, and ears for what is said

(defvar outrigger-tests--root nil
  "The workspace of the test that runs.")

(defvar outrigger-tests--said nil
  "What was said in the test that runs, newest first, each (METHOD . PARAMS).")

(defmacro outrigger-tests--in-workspace (&rest body)
  "Run BODY in a workspace of its own, and leave no trace of it."
  (declare (indent 0) (debug t))
  `(outrigger-tests--call-in-workspace (lambda () ,@body)))

(defun outrigger-tests--call-in-workspace (function)
  "Call FUNCTION in a workspace of its own, and leave no trace of it."
  (let* ((outrigger-tests--root
          (file-name-as-directory (file-truename (make-temp-file "outrigger-tests" t))))
         (default-directory outrigger-tests--root)
         (outrigger-workspace-function (lambda (_) outrigger-tests--root))
         (outrigger-tests--said nil)
         (outrigger-companions nil)
         (outrigger-proposals nil)
         ;; Without a command loop nothing ends a completion.
         (completion-in-region-mode nil)
         (before (buffer-list)))
    (unwind-protect
        (funcall function)
      (outrigger-mode -1)
      (dolist (buffer (seq-difference (buffer-list) before #'eq))
        (when (buffer-live-p buffer)
          (with-current-buffer buffer
            (set-buffer-modified-p nil))
          (let (kill-buffer-query-functions)
            (kill-buffer buffer))))
      (delete-directory outrigger-tests--root t))))

(defmacro outrigger-tests--listening (&rest body)
  "Run BODY in a workspace whose companion only listens."
  (declare (indent 0) (debug t))
  `(outrigger-tests--in-workspace
     (let ((companion (outrigger-companion--make outrigger-tests--root)))
       (setq outrigger-companions (list companion))
       (run-hooks 'outrigger-companions-changed-hook)
       (cl-letf (((symbol-function 'outrigger-companion-running-p) #'always)
                 ((symbol-function 'outrigger-companion--end) #'ignore)
                 ((symbol-function 'outrigger-companion-notify)
                  (lambda (_companion method params)
                    (push (cons method (outrigger-tests--on-the-wire params))
                          outrigger-tests--said)))
                 ((symbol-function 'outrigger-companion-request)
                  (lambda (_companion method params &optional answer _failed)
                    (push (cons method (outrigger-tests--on-the-wire params))
                          outrigger-tests--said)
                    (when (eq method :outrigger/proposal/update)
                      (funcall answer (outrigger-tests--compared companion params))))))
         (outrigger-mode 1)
         ,@body))))

(defun outrigger-tests--on-the-wire (params)
  "Return PARAMS as they arrive at the other end, if they can be sent at all."
  (json-parse-string (json-serialize params :false-object :json-false :null-object nil)
                     :object-type 'plist :false-object :json-false :null-object nil))

(defun outrigger-tests--heard (method)
  "Return the parameters of everything that was said with METHOD, oldest first."
  (cl-loop for (said . params) in (reverse outrigger-tests--said)
           when (eq said method) collect params))

(defun outrigger-tests--file (name text)
  "Write TEXT to the file NAME of the workspace and visit it."
  (let ((coding-system-for-write 'utf-8-unix))
    (write-region text nil (expand-file-name name) nil 'silent))
  (find-file (expand-file-name name)))

(defun outrigger-tests--report ()
  "Say now what would be said soon."
  (outrigger-documents-report))

(defun outrigger-tests--wait (what condition)
  "Wait for WHAT, until the function CONDITION yields a value."
  (let ((end (+ (float-time) 60))
        value)
    (while (not (setq value (funcall condition)))
      (when (> (float-time) end)
        (ert-fail (format "waited in vain for %s" what)))
      (accept-process-output nil 0.05))
    value))

;;; Texts and places

(ert-deftest outrigger-tests-uris ()
  (should (equal (outrigger-uri "/a b/é~#?%.rs") "file:///a%20b/%C3%A9~%23%3F%25.rs")))

(ert-deftest outrigger-tests-places ()
  (pcase-dolist (`(,text ,place ,line ,character)
                 '(("" 1 0 0)
                   ("one\ntwo" 5 1 0)
                   ("one\ntwo" 8 1 3)
                   ("é🙂x\n" 4 0 7)
                   ("a\rb\nc" 4 1 1)
                   ("a\rb\nc" 5 2 0)
                   ("a\r\nb" 4 1 0)
                   ("x\u3FFFE2y" 1 0 0)
                   ("one" 99 0 3)))
    (with-temp-buffer
      (insert text)
      (should (equal (list text (outrigger-position place))
                     (list text (list :line line :character character))))))
  (with-temp-buffer
    (insert "one\ntwo\nthree")
    (narrow-to-region 5 8)
    (should (equal (outrigger-position 6) '(:line 1 :character 1))))
  (with-temp-buffer
    (insert "x" (unibyte-char-to-multibyte #xe9) "y")
    (should (equal (outrigger-text-of-buffer) "x\uFFFDy"))
    (should (equal (outrigger-position 3) '(:line 0 :character 4)))))

;;; Documents

(defun outrigger-tests--apply (text change)
  "Return TEXT after CHANGE, as the other end understands it."
  (if-let ((range (plist-get change :range)))
      (let ((bytes (encode-coding-string text 'utf-8-unix)))
        (decode-coding-string
         (concat (substring bytes 0 (outrigger-tests--offset bytes (plist-get range :start)))
                 (encode-coding-string (plist-get change :text) 'utf-8-unix)
                 (substring bytes (outrigger-tests--offset bytes (plist-get range :end))))
         'utf-8-unix))
    (plist-get change :text)))

(defun outrigger-tests--offset (bytes place)
  "Return the offset of PLACE in BYTES, which is an error if there is none."
  (let ((start 0))
    (dotimes (_ (plist-get place :line))
      (string-match "\r\n\\|\n\\|\r" bytes start)
      (setq start (match-end 0)))
    (let ((end (or (string-match "[\r\n]" bytes start) (length bytes)))
          (offset (+ start (plist-get place :character))))
      (should (<= offset end))
      offset)))

(defun outrigger-tests--copy ()
  "Return the text of the one document as the other end has it."
  (let (text)
    (pcase-dolist (`(,method . ,params) (reverse outrigger-tests--said))
      (pcase method
        (:textDocument/didOpen (setq text (plist-get (plist-get params :textDocument) :text)))
        (:textDocument/didChange
         (seq-doseq (change (plist-get params :contentChanges))
           (setq text (outrigger-tests--apply text change))))))
    text))

(ert-deftest outrigger-tests-copies-stay-equal ()
  "Whatever is done to a buffer, the companion has the same text."
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "one\ntwo\r\nthree é 🙂\n")
    (random "outrigger")
    (let ((indirect (make-indirect-buffer (current-buffer) "indirect"))
          (pieces ["x" "é" "🙂" "\n" "\r" "\r\n" "" "a\nb\nc"]))
      (dotimes (round 400)
        (let* ((start (+ (point-min) (random (1+ (buffer-size)))))
               (end (min (point-max) (+ start (random 4))))
               (piece (aref pieces (random (length pieces)))))
          (pcase (random 9)
            ((or 0 1 2) (goto-char start) (insert piece))
            (3 (delete-region start end))
            (4 (let ((inhibit-modification-hooks t)) (goto-char start) (insert piece)))
            (5 (with-current-buffer indirect (goto-char start) (insert piece)))
            (6 (subst-char-in-region start end ?x ?y))
            (7 (upcase-region start end))
            (8 (save-restriction (narrow-to-region start end) (insert piece)))))
        (when (zerop (random 3))
          (outrigger-tests--report)
          (should (equal (list round (outrigger-tests--copy))
                         (list round (outrigger-text-of-buffer)))))))
    ;; Most of it has to be told in pieces, or this proves nothing.
    (should (> (cl-count-if (lambda (params)
                              (plist-get (seq-first (plist-get params :contentChanges)) :range))
                            (outrigger-tests--heard :textDocument/didChange))
               20))))

(ert-deftest outrigger-tests-a-change-of-mode-goes-unnoticed ()
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "one\n")
    (emacs-lisp-mode)
    (insert "zero\n")
    (outrigger-tests--report)
    (should (equal (outrigger-tests--copy) "zero\none\n"))
    (kill-buffer)
    (should (= (length (outrigger-tests--heard :textDocument/didClose)) 1))))

(ert-deftest outrigger-tests-unsaved-is-said ()
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "one\n")
    (insert "zero\n")
    (outrigger-tests--report)
    (should-not (outrigger-tests--heard :textDocument/didSave))
    (save-buffer)
    (should (= (length (outrigger-tests--heard :textDocument/didSave)) 1))
    (insert "more\n")
    (outrigger-tests--report)
    (revert-buffer t t)
    (outrigger-tests--report)
    (should (= (length (outrigger-tests--heard :textDocument/didSave)) 2))
    ;; A companion that comes when there are changes already has to learn of them.
    (goto-char (point-min))
    (insert "unsaved\n")
    (setq outrigger-tests--said nil)
    (outrigger-documents-open-all companion)
    (should (equal (mapcar #'car (reverse outrigger-tests--said))
                   '(:textDocument/didOpen :textDocument/didChange)))
    (should (equal (outrigger-tests--copy) "unsaved\nzero\none\n"))))

(ert-deftest outrigger-tests-names-follow ()
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "one\n")
    (set-visited-file-name (expand-file-name "b.txt") t)
    (should (equal (mapcar (lambda (it)
                             (cons (car it)
                                   (file-name-nondirectory
                                    (plist-get (plist-get (cdr it) :textDocument) :uri))))
                           (seq-take (reverse outrigger-tests--said) 3))
                   '((:textDocument/didOpen . "a.txt")
                     (:textDocument/didClose . "a.txt")
                     (:textDocument/didOpen . "b.txt"))))))

(ert-deftest outrigger-tests-what-is-not-shared ()
  (outrigger-tests--listening
    (with-temp-buffer
      (outrigger-documents-attach)
      (should-not outrigger-document)
      (let ((buffer-file-name "/ssh:nowhere:/a.txt"))
        (outrigger-documents-attach)
        (should-not outrigger-document)))
    (should-not outrigger-tests--said)
    ;; Of what is too large, or no text, there is only the name.
    (let ((outrigger-size-limit 10))
      (outrigger-tests--file "huge.txt" "more than ten characters\n"))
    (insert "changed")
    (outrigger-tests--report)
    (let ((coding-system-for-write 'binary))
      (write-region "\x00\xff\xfe" nil "binary.o" nil 'silent))
    (let ((coding-system-for-read 'no-conversion))
      (find-file "binary.o"))
    (outrigger-tests--report)
    (should (equal (mapcar #'car (reverse outrigger-tests--said))
                   '(:textDocument/didOpen :textDocument/didFocus
                     :textDocument/didOpen :textDocument/didFocus)))
    (should (equal (outrigger-tests--copy) ""))))

;;; Point and region

(defun outrigger-tests--selections ()
  "Return the last selections that were said, as lists of four numbers."
  (seq-map (lambda (it)
             (cl-loop for end in '(:anchor :active)
                      for place = (plist-get it end)
                      append (list (plist-get place :line) (plist-get place :character))))
           (plist-get (car (last (outrigger-tests--heard :outrigger/selectionChanged)))
                      :selections)))

(ert-deftest outrigger-tests-point-and-region ()
  (outrigger-tests--listening
    (let ((transient-mark-mode t))
      (outrigger-tests--file "a.txt" "one\ntwo\nthree\n")
      (goto-char 6)
      (outrigger-tests--report)
      (should (equal (outrigger-tests--selections) '((1 1 1 1))))
      (push-mark 1 t t)
      (outrigger-tests--report)
      (should (equal (outrigger-tests--selections) '((0 0 1 1))))
      ;; Nothing new, nothing said; and a terminal leaves things as they were.
      (let ((count (length outrigger-tests--said)))
        (outrigger-tests--report)
        (switch-to-buffer "*terminal*")
        (outrigger-tests--report)
        (should (= (length outrigger-tests--said) count)))
      (switch-to-buffer "a.txt")
      (rectangle-mark-mode 1)
      (outrigger-tests--report)
      (should (equal (outrigger-tests--selections) '((1 0 1 1) (0 0 0 1)))))))

;;; Diagnostics

(ert-deftest outrigger-tests-flymake ()
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "one\ntwo\n")
    (add-hook 'flymake-diagnostic-functions
              (lambda (report &rest _)
                (funcall report (list (flymake-make-diagnostic (current-buffer) 5 8 :warning
                                                               "not a number"))))
              nil t)
    (flymake-mode 1)
    (flymake-start)
    (outrigger-tests--report)
    (should (equal (outrigger-tests--heard :outrigger/diagnosticsChanged)
                   `((:uri ,(outrigger-uri "a.txt")
                      :diagnostics [(:range (:start (:line 1 :character 0)
                                             :end (:line 1 :character 3))
                                     :severity 2 :message "not a number")]))))
    (outrigger-tests--report)
    (should (= (length (outrigger-tests--heard :outrigger/diagnosticsChanged)) 1))))

(declare-function flycheck-error-new-at "ext:flycheck")
(defvar flycheck-current-errors)
(defvar flycheck-mode)

(ert-deftest outrigger-tests-flycheck ()
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "one\ntwo\n")
    (require 'flycheck)
    (setq-local flycheck-mode t)
    (setq-local flycheck-current-errors
                (list (flycheck-error-new-at 2 1 'error "not a number" :end-column 4
                                             :buffer (current-buffer))))
    (outrigger-tests--report)
    (let ((said (car (outrigger-tests--heard :outrigger/diagnosticsChanged))))
      (should (equal (plist-get said :diagnostics)
                     [(:range (:start (:line 1 :character 0) :end (:line 1 :character 3))
                       :severity 1 :message "not a number")])))))

;;; Reviews

(defun outrigger-tests--propose (companion before after &rest more)
  "Have COMPANION propose to turn BEFORE into AFTER, and return the review.
MORE parameters go before the usual ones."
  (outrigger-companion-handle companion 'outrigger/proposal/open
                         `(,@more :id ,(1+ (length outrigger-proposals))
                           :path ,(expand-file-name "a.txt" (outrigger-companion-root companion))
                           :agent "Agent" :session "s" :original ,before :proposed ,after
                           :hunks ,(outrigger-tests--compare (or before "") after)
                           :dirty :json-false :revision 1))
  (let ((review (car (last outrigger-proposals))))
    (outrigger-proposals--opened review)
    review))

(defun outrigger-tests--verdict ()
  "Return the last verdict that was said, as (ACCEPTED TEXT)."
  (let ((verdict (car (last (outrigger-tests--heard :outrigger/proposal/verdict)))))
    (list (plist-get verdict :accepted) (plist-get verdict :text))))

(ert-deftest outrigger-tests-no-path-opens-a-connection ()
  (outrigger-tests--listening
    (cl-letf (((symbol-function 'tramp-file-name-handler)
               (lambda (&rest call)
                 ;; Emacs asks for a name that is quoted too, and switches Tramp off for that.
                 (if tramp-mode
                     (ert-fail (list "a connection" call))
                   (tramp-run-real-handler (car call) (cdr call))))))
      (dolist (path '("/ssh:somebody@nowhere.invalid:/etc/a.txt" "/sudo::/etc/a.txt"))
        (let ((review (outrigger-tests--propose companion "1\n" "2\n" :path path)))
          (should-not (file-remote-p (outrigger-review-path review)))
          (should (equal (outrigger-review-name review) "a.txt"))
          (outrigger-review-describe review)
          (outrigger-review-proposed review)
          (find-buffer-visiting (outrigger-review-path review)))))))

(ert-deftest outrigger-tests-the-text-of-others-is-seen-and-steers-nothing ()
  (pcase-dolist (`(,text ,shown)
                 '(("" "")
                   ("a path/with spaces é漢🙂" "a path/with spaces é漢🙂")
                   ("a\noutrigger: accepted\r\t" "a␊outrigger: accepted␍␉")
                   ("\e]0;owned\a\d" "␛]0;owned␇<U+007F>")
                   ("\u009b\u202e\u2028\u200b" "<U+009B><U+202E><U+2028><U+200B>")
                   ("👨\u200d👩" "👨\u200d👩")))
    (should (equal (outrigger-text-line text) shown))))

(defun outrigger-tests--bar (bar)
  "Return the text of BAR, the function of a header line, on the screen.
Without a screen Emacs formats nothing, so that is done here."
  (let ((text (funcall bar)))
    (should-not (string-match-p "[\0-\x1f]" text))
    (should-not (string-search "%" (string-replace "%%" "" text)))
    (string-replace "%%" "%" text)))

(ert-deftest outrigger-tests-a-name-is-shown-and-never-obeyed ()
  (outrigger-tests--listening
    (let* ((name "%b%n\nOutrigger: accepted\e[2J\u202e.txt")
           (review (outrigger-tests--propose companion "1\n" "2\n" :path (expand-file-name name)
                                             :who name :stale name))
           (shown "%b%n␊Outrigger: accepted␛[2J<U+202E>.txt"))
      (should (equal (outrigger-review-name review) shown))
      (should (equal (outrigger-review-describe review)
                     (format "%s proposes a change to %s" shown shown)))
      (dolist (buffer (list (outrigger-review-view review) (outrigger-review-proposed review)))
        (should (string-search shown (buffer-name buffer))))
      (with-current-buffer (outrigger-review-view review)
        (should (string-search shown (outrigger-tests--bar #'outrigger-diff--header)))
        (goto-char (point-min))
        (should (looking-at-p (regexp-quote (concat "--- " shown "\n+++ " shown)))))
      (with-current-buffer (outrigger-review-proposed review)
        (should (string-search shown (outrigger-tests--bar #'outrigger-proposal--header)))))))

(defvar outrigger-tests--obeyed nil
  "Whether a text of an agent was obeyed.")

(ert-deftest outrigger-tests-what-an-agent-writes-sets-no-variables ()
  (outrigger-tests--listening
    (let* ((outrigger-tests--obeyed nil)
           (enable-local-variables :all)
           (enable-local-eval t)
           (magic-mode-alist (list (cons "-" (lambda () (setq outrigger-tests--obeyed 'magic)))))
           (text (concat "-*- mode: emacs-lisp; eval: (setq outrigger-tests--obeyed 'line) -*-\n"
                         "\n;; Local Variables:\n;; mode: emacs-lisp\n"
                         ";; eval: (setq outrigger-tests--obeyed 'block)\n"
                         ";; fill-column: 13\n;; End:\n")))
      (with-temp-file ".dir-locals.el"
        (insert "((nil . ((fill-column . 13) (eval . (setq outrigger-tests--obeyed 'folder)))))"))
      (let ((review (outrigger-tests--propose companion text (concat text "x\n"))))
        (dolist (buffer (list (outrigger-review-original review) (outrigger-review-proposed review)
                              (outrigger-review-view review)))
          (with-current-buffer buffer
            (should-not (eql fill-column 13))
            (should-not (eq major-mode 'emacs-lisp-mode))
            ;; Nor does it once the hooks of a mode run.
            (run-mode-hooks)
            (should-not (eql fill-column 13)))))
      (should-not outrigger-tests--obeyed))))

(ert-deftest outrigger-tests-no-name-starts-a-viewer ()
  (outrigger-tests--listening
    (dolist (name '("a.png" "a.pdf" "a.zip" "a.tar" "a.jar"))
      (let ((review (outrigger-tests--propose companion "1\n" "2\n" :path (expand-file-name name))))
        (with-current-buffer (outrigger-review-proposed review)
          (should-not (memq major-mode outrigger-review--modes-of-files))
          (should (equal (buffer-string) "2\n")))))))

(ert-deftest outrigger-tests-a-pipe-in-the-place-of-a-file-is-not-waited-for ()
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "old\n")
    (delete-file "a.txt")
    (call-process "mkfifo" nil nil nil (expand-file-name "a.txt"))
    ;; A look that opened it would never come back.
    (should-not (outrigger-reload-buffer (current-buffer)))
    (should (equal (buffer-string) "old\n"))))

(ert-deftest outrigger-tests-texts-come-out-as-they-went-in ()
  (pcase-dolist (`(,before ,after ,shown ,edited)
                 '((nil "one\n" "one\n" "one\n!")
                   ("x" "one" "one" "one!")
                   ("x\r\n" "one\r\ntwo\r\n" "one\ntwo\n" "one\r\ntwo\r\n!")
                   ("x\n" "one\r\ntwo\r\n" "one\r\ntwo\r\n" "one\r\ntwo\r\n!")
                   ("x\r\n" "one\r\ntwo\n" "one\r\ntwo\n" "one\r\ntwo\n!")
                   ("\uFEFFx" "\uFEFFone" "one" "\uFEFFone!")
                   ("x" "\uFEFFone" "\uFEFFone" "\uFEFFone!")
                   (nil "\uFEFFone\r\n" "one\n" "\uFEFFone\r\n!")))
    (outrigger-tests--listening
      (let ((review (outrigger-tests--propose companion before after)))
        (outrigger-proposals--accept review)
        (should (equal (outrigger-tests--verdict) '(t nil)))
        (with-current-buffer (outrigger-review-proposed review)
          (should (equal (buffer-string) shown))
          (goto-char (point-max))
          (insert "!")
          (outrigger-accept)
          (should (equal (outrigger-tests--verdict) (list t edited)))
          ;; Taken back: it is what the agent wrote again.
          (delete-char -1)
          (outrigger-accept)
          (should (equal (outrigger-tests--verdict) '(t nil)))
          (outrigger-reject)
          (should (equal (outrigger-tests--verdict) '(:json-false nil))))))))

(ert-deftest outrigger-tests-an-update-counts ()
  "What the companion was told is accepted without a text, and only that."
  (outrigger-tests--listening
    (let ((review (outrigger-tests--propose companion "one\n" "two\n")))
      (with-current-buffer (outrigger-review-proposed review)
        (insert "!")
        (outrigger-review-follow review)
        (should (equal (plist-get (car (outrigger-tests--heard :outrigger/proposal/update)) :text)
                       "!two\n"))
        (outrigger-accept)
        (should (equal (outrigger-tests--verdict) '(t nil)))
        (delete-char -1)
        (outrigger-accept)
        (should (equal (outrigger-tests--verdict) '(t "two\n")))))))

(defun outrigger-tests--hunks (&rest hunks)
  "Return HUNKS as in a message; each is a list of four line numbers."
  (vconcat (cl-loop for (old-start old-end new-start new-end) in hunks
                    for number from 1
                    collect (list :number number
                                  :originalStart old-start :originalEnd old-end
                                  :proposedStart new-start :proposedEnd new-end))))

(defun outrigger-tests--compared (companion params)
  "Return what COMPANION answers to an update with PARAMS."
  (let ((review (outrigger-proposals--find companion (plist-get params :id))))
    (list :hunks (outrigger-tests--compare (or (outrigger-review-before review) "")
                                           (plist-get params :text)))))

(defun outrigger-tests--compare (before after)
  "Return the hunks between BEFORE and AFTER as in a message.
Carriage returns are no difference."
  (let* ((old (outrigger-hunks-lines (string-replace "\r\n" "\n" before)))
         (new (outrigger-hunks-lines (string-replace "\r\n" "\n" after)))
         (common (make-hash-table :test #'equal))
         (i (length old)) (j (length new))
         start hunks)
    (cl-flet ((common (i j) (gethash (cons i j) common 0)))
      ;; How many lines from I and J on are in both.
      (cl-loop for i from (1- i) downto 0
               do (cl-loop for j from (1- j) downto 0
                           do (puthash (cons i j)
                                       (if (equal (aref old i) (aref new j))
                                           (1+ (common (1+ i) (1+ j)))
                                         (max (common (1+ i) j) (common i (1+ j))))
                                       common)))
      (setq i 0 j 0)
      (while (or (< i (length old)) (< j (length new)))
        (cond ((and (< i (length old)) (< j (length new)) (equal (aref old i) (aref new j)))
               (when start
                 (push (list (car start) i (cdr start) j) hunks)
                 (setq start nil))
               (cl-incf i)
               (cl-incf j))
              (t
               (unless start
                 (setq start (cons i j)))
               (if (and (< j (length new))
                        (or (= i (length old)) (>= (common i (1+ j)) (common (1+ i) j))))
                   (cl-incf j)
                 (cl-incf i)))))
      (when start
        (push (list (car start) i (cdr start) j) hunks)))
    (apply #'outrigger-tests--hunks (nreverse hunks))))

(ert-deftest outrigger-tests-hunks-can-be-dropped ()
  (let ((lines (lambda (first last)
                 (concat first "\n2\n3\n4\n5\n6\n7\n8\n9\n10\n" last))))
    (pcase-dolist (`(,before ,after ,hunks ,hunk ,left)
                   `((,(funcall lines "a" "z\n") ,(funcall lines "A" "Z\n")
                      ((0 1 0 1) (10 11 10 11)) 1 ,(funcall lines "a" "Z\n"))
                     (,(funcall lines "a" "z\n") ,(funcall lines "A" "Z\n")
                      ((0 1 0 1) (10 11 10 11)) 2 ,(funcall lines "A" "z\n"))
                     (,(funcall lines "a" "z") ,(funcall lines "A" "Z\n")
                      ((0 1 0 1) (10 11 10 11)) 2 ,(funcall lines "A" "z"))
                     (,(funcall lines "a" "z\n") ,(funcall lines "A" "")
                      ((0 1 0 1) (10 11 10 10)) 2 ,(funcall lines "A" "z\n"))
                     (,(funcall lines "a" "") ,(funcall lines "a" "z\n")
                      ((10 10 10 11)) 1 ,(funcall lines "a" ""))
                     (nil "new\n" ((0 0 0 1)) 1 "")))
      (outrigger-tests--listening
        (let ((review (outrigger-tests--propose companion before after
                                                :hunks (apply #'outrigger-tests--hunks hunks))))
          (with-current-buffer (outrigger-review-view review)
            (goto-char (point-min))
            (diff-hunk-next hunk)
            (outrigger-diff-drop-hunk)
            (should (equal (outrigger-review-text review) left))
            (should (equal (cl-count ?@ (buffer-string))
                           (* 4 (if (equal left (or before "")) 0 1))))))))))

(ert-deftest outrigger-tests-unsaved-changes-are-loaded-if-they-were-merged ()
  (pcase-dolist (`(,outcome ,later ,expected)
                 '(("accepted" "" "mine\nONE\n")
                   ("accepted" "more\n" "mine\nmore\none\n")
                   ("withdrawn" "" "mine\none\n")))
    (outrigger-tests--listening
      (outrigger-tests--file "a.txt" "one\n")
      (insert "mine\n")
      (let ((file (current-buffer))
            (review (outrigger-tests--propose companion "mine\none\n" "mine\nONE\n" :dirty t))
            merged)
        (with-current-buffer (outrigger-review-view review)
          (should (string-match-p "^ mine\n-one\n\\+ONE" (buffer-string)))
          (should (string-match-p "with your unsaved changes" (outrigger-diff--header))))
        (insert later)
        (cl-letf (((symbol-function 'outrigger-reload-expect) (lambda (_ text) (setq merged text))))
          (outrigger-proposals--closed review nil outcome))
        (with-current-buffer file
          (write-region "mine\nONE\n" nil buffer-file-name nil 'silent)
          (set-visited-file-modtime '(1 0))
          (should (eq (outrigger-reload-buffer file merged)
                      (if (equal expected "mine\nONE\n") 'loaded 'unsaved)))
          (should (equal (buffer-string) expected)))))))

(ert-deftest outrigger-tests-what-an-agent-wrote-is-reloaded ()
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "one\n")
    (let ((review (outrigger-tests--propose companion "one\n" "ONE\n")))
      (outrigger-companion-handle companion 'outrigger/proposal/close (list :id (outrigger-review-id review)))
      ;; Agents truncate a file before they write it, and a look may come between the two.
      (pcase-dolist (`(,text ,time) '(("" (1 0)) ("ONE\n" (2 0))))
        (let ((coding-system-for-write 'utf-8-unix))
          (write-region text nil (expand-file-name "a.txt") nil 'silent))
        (set-file-times "a.txt" time)
        (outrigger-tests--wait "the new text"
                               (lambda () (equal (with-current-buffer "a.txt" (buffer-string))
                                                 text)))))))

(defun outrigger-tests--send (companion revision before after &rest more)
  "Have COMPANION send BEFORE and AFTER as a REVISION of its proposal.
MORE parameters go before the usual ones."
  (let ((review (car (last outrigger-proposals))))
    (outrigger-companion-handle companion 'outrigger/proposal/open
                                `(,@more :id ,(outrigger-review-id review)
                                  :path ,(outrigger-review-path review)
                                  :agent "Agent" :session "s" :original ,before :proposed ,after
                                  :hunks ,(outrigger-tests--compare before after)
                                  :dirty :json-false :revision ,revision
                                  :stale "the file has changed"))))

(defun outrigger-tests--revise (companion before after &rest more)
  "Have COMPANION send BEFORE and AFTER as the next revision of its proposal.
MORE parameters go before the usual ones."
  (let* ((review (car (last outrigger-proposals)))
         (revision (1+ (outrigger-review-revision review))))
    (apply #'outrigger-tests--send companion revision before after more)
    (outrigger-tests--wait "the revision"
                           (lambda () (eql (outrigger-review-revision review) revision)))))

(ert-deftest outrigger-tests-a-proposal-whose-file-has-changed-is-shown-anew-in-place ()
  (outrigger-tests--listening
    (let* ((review (outrigger-tests--propose companion "1\n2\n3\n" "1\n2\nTHREE\n"))
           (proposed (outrigger-review-proposed review))
           (view (outrigger-review-view review))
           (window (selected-window)))
      (with-current-buffer proposed
        (goto-char (point-min))
        (search-forward "2"))
      (should-not (outrigger-companion-handle companion 'outrigger/proposal/text '(:id 1)))
      (ert-with-message-capture told
        (outrigger-tests--revise companion "0\n1\n2\n3\n" "0\n1\n2\nTHREE\n")
        ;; Nothing new is told of the next one.
        (outrigger-tests--revise companion "00\n1\n2\n3\n" "00\n1\n2\nTHREE\n")
        (should (equal (length (cdr (split-string told "a.txt: the file has changed\n"))) 1)))
      (with-current-buffer proposed
        (should (equal (buffer-string) "00\n1\n2\nTHREE\n"))
        (should (looking-back "2" (point-min)))
        (should-not (buffer-modified-p))
        (should-not buffer-undo-list)
        (should (string-search "the file has changed" (outrigger-proposal--header))))
      (with-current-buffer (outrigger-review-original review)
        (should (equal (buffer-string) "00\n1\n2\n3\n")))
      (with-current-buffer view
        (should (string-match-p "^ 1\n 2\n-3\n\\+THREE\n" (buffer-string)))
        (should (string-search "the file has changed" (outrigger-diff--header))))
      (should (eq (selected-window) window))
      (should (equal outrigger-proposals (list review)))
      (outrigger-proposals--accept review)
      (should (equal (outrigger-tests--heard :outrigger/proposal/verdict)
                     '((:id 1 :revision 3 :accepted t)))))))

(ert-deftest outrigger-tests-the-newest-of-several-texts-that-wait-is-shown ()
  (outrigger-tests--listening
    (let* ((review (outrigger-tests--propose companion "1\n2\n" "1\nTWO\n"))
           (command t)
           timers)
      (cl-letf (((symbol-function 'outrigger-review-shown-p) #'always)
                ((symbol-function 'outrigger-interrupt-in-command-p) (lambda () command))
                ;; Timers end when the test says so, the last one first.
                ((symbol-function 'run-with-timer)
                 (lambda (_ _ function &rest arguments)
                   (push (lambda () (apply function arguments)) timers)
                   'timer)))
        (outrigger-tests--send companion 2 "0\n1\n2\n" "0\n1\nZWEI\n")
        (outrigger-tests--send companion 3 "0\n1\n2\n" "0\n1\nDEUX\n")
        (should (= (length timers) 1))
        (funcall (pop timers))
        (should (equal (outrigger-review-text review) "1\nTWO\n"))
        (outrigger-tests--send companion 4 "0\n1\n2\n" "0\n1\nDUE\n")
        (should (= (length timers) 1))
        (setq command nil)
        (while timers
          (funcall (pop timers))))
      (should (equal (outrigger-review-text review) "0\n1\nDUE\n"))
      (outrigger-proposals--accept review)
      (should (equal (outrigger-tests--heard :outrigger/proposal/verdict)
                     '((:id 1 :revision 4 :accepted t)))))))

(ert-deftest outrigger-tests-what-was-typed-comes-back-merged ()
  (outrigger-tests--listening
    (let ((review (outrigger-tests--propose companion "1\n2\n" "1\nTWO\n")))
      (with-current-buffer (outrigger-review-proposed review)
        (insert "MINE\n"))
      (should (equal (outrigger-companion-handle companion 'outrigger/proposal/text '(:id 1))
                     '(:text "MINE\n1\nTWO\n")))
      (outrigger-tests--revise companion "0\n1\n2\n" "0\nMINE\n1\nTWO\n")
      (should (equal (outrigger-review-text review) "0\nMINE\n1\nTWO\n")))))

(ert-deftest outrigger-tests-what-is-typed-meanwhile-is-brought-into-the-new-text ()
  (dolist (fails '(nil t))
    (outrigger-tests--listening
      (let ((review (outrigger-tests--propose companion "1\n2\n" "1\nTWO\n"))
            (merged '(:id 1 :session "s" :original "0\n1\n2\n" :proposed "0\nLATE\n1\nTWO\n"
                      :revision 2))
            asked kill-ring)
        (outrigger-companion-handle companion 'outrigger/proposal/text '(:id 1))
        (with-current-buffer (outrigger-review-proposed review)
          (insert "LATE\n"))
        (cl-letf (((symbol-function 'outrigger-companion-request)
                   (lambda (_ method params &optional done failed)
                     (push (cons method params) asked)
                     (cond (fails (funcall failed "too old"))
                           ((eq method :outrigger/proposal/list)
                            (funcall done (list :proposals (vector merged))))
                           (t (funcall done '(:hunks [])))))))
          (outrigger-tests--revise companion "0\n1\n2\n" "0\n1\nTWO\n"))
        (should (equal (car (last asked))
                       '(:outrigger/proposal/update :id 1 :text "LATE\n1\nTWO\n" :revision 1)))
        (should (equal (outrigger-review-text review)
                       (if fails "0\n1\nTWO\n" "0\nLATE\n1\nTWO\n")))
        (should (equal kill-ring (if fails '("LATE\n1\nTWO\n"))))))))

(ert-deftest outrigger-tests-conflicts-are-marked-until-they-are-resolved ()
  (outrigger-tests--listening
    (let ((review (outrigger-tests--propose companion "1\n" "ONE\n")))
      (with-current-buffer (outrigger-review-proposed review)
        (should-not smerge-mode)
        (outrigger-tests--revise
         companion "one\n" "<<<<<<< in the file now\none\n=======\nONE\n>>>>>>> proposed\n"
         :conflicts 1)
        (should smerge-mode)
        (should (string-search "1 in conflict; the file has changed" (outrigger-proposal--header)))
        (goto-char (point-min))
        (smerge-next)
        (smerge-keep-lower)
        (should (equal (buffer-string) "ONE\n"))
        (should-not (string-search "in conflict" (outrigger-proposal--header)))))))

(ert-deftest outrigger-tests-closing-answers-with-the-text ()
  (outrigger-tests--listening
    (let* ((review (outrigger-tests--propose companion "one\n" "two\n"))
           (proposed (outrigger-review-proposed review))
           closed)
      (add-hook 'outrigger-proposal-closed-functions (lambda (it) (push it closed)))
      (unwind-protect
          (progn
            (with-current-buffer proposed
              (insert "!"))
            (should (equal (outrigger-companion-handle companion 'outrigger/proposal/close '(:id 1))
                           '(:text "!two\n")))
            (should-not outrigger-proposals)
            (outrigger-tests--wait "the end of the buffers"
                                   (lambda () (not (buffer-live-p proposed))))
            (should (equal closed (list review)))
            (should-not (outrigger-companion-handle companion 'outrigger/proposal/close '(:id 1)))
            (should-error (outrigger-accept) :type 'user-error))
        (setq outrigger-proposal-closed-functions nil)))))

(ert-deftest outrigger-tests-how-it-ended-is-told ()
  "To a person who has not decided it here."
  (dolist (decided '(nil t))
    (outrigger-tests--listening
      (let ((review (outrigger-tests--propose companion "one\n" "two\n"))
            closed)
        (when decided
          (outrigger-proposals--reject review))
        (ert-with-message-capture told
          (outrigger-companion-handle companion 'outrigger/proposal/close
                                      '(:id 1 :outcome "withdrawn"
                                        :message "a.txt: taken back by its agent"))
          (let ((outrigger-proposal-closed-functions (list (lambda (_) (setq closed t)))))
            (outrigger-tests--wait "the end" (lambda () closed)))
          (should (eq (string-search "a.txt: taken back by its agent" told)
                      (if decided nil 0))))))))

(ert-deftest outrigger-tests-edits-outlive-the-companion ()
  (outrigger-tests--listening
    (let ((review (outrigger-tests--propose companion "one\n" "two\n")))
      (with-current-buffer (outrigger-review-proposed review)
        (insert "!"))
      (outrigger-review-follow review)
      ;; Decided before it is opened again: the new companion was told nothing.
      (outrigger-proposals-keep-pending companion)
      (outrigger-proposals--accept review)
      (should (equal (outrigger-tests--verdict) '(t "!two\n")))
      (outrigger-companion-handle companion 'outrigger/proposal/open
                             `(:id 1 :path ,(outrigger-review-path review) :session "s"
                               :original "one\n" :proposed "two\n" :revision 1))
      (should (equal outrigger-proposals (list review)))
      (outrigger-proposals--accept review)
      (should (equal (outrigger-tests--verdict) '(t "!two\n"))))))

;;; Windows

(ert-deftest outrigger-tests-focus-stays-and-windows-come-back ()
  (outrigger-tests--listening
    (outrigger-tests--file "a.txt" "one\n")
    (delete-other-windows)
    (let ((window (selected-window))
          (review (outrigger-tests--propose companion "one\n" "two\n")))
      (should (eq (selected-window) window))
      (should (eq (window-buffer) (get-buffer "a.txt")))
      (should (get-buffer-window (outrigger-review-view review)))
      (outrigger-show)
      (should (eq (window-buffer) (outrigger-review-view review)))
      (should (eq (key-binding (kbd "C-c C-c")) #'outrigger-accept))
      (should (eq (key-binding (kbd "C-c C-k")) #'outrigger-reject))
      (should (eq (key-binding "k") #'outrigger-diff-drop-hunk))
      (should (eq (key-binding (kbd "RET")) #'outrigger-diff-edit))
      (should (eq (key-binding "n") #'diff-hunk-next))
      (should (eq (key-binding "q") #'quit-window))
      (outrigger-diff-edit)
      (should (eq (window-buffer) (outrigger-review-proposed review)))
      (should (eq (key-binding (kbd "C-c C-c")) #'outrigger-accept))
      (should (eq (key-binding (kbd "C-x C-s")) #'outrigger-proposal-save))
      (outrigger-proposals--closed review)
      (should (eq (window-buffer) (get-buffer "a.txt")))
      (should (equal (window-list) (list (selected-window))))
      (should (= (length (frame-list)) 1)))))

(ert-deftest outrigger-tests-ediff ()
  (outrigger-tests--listening
    (let ((outrigger-diff-function #'outrigger-diff-ediff)
          (noninteractive nil))
      (outrigger-tests--file "a.txt" "one\n")
      (delete-other-windows)
      ;; Not over somebody who types to a program.
      (with-current-buffer (get-buffer-create "*terminal*")
        (comint-mode))
      (switch-to-buffer "*terminal*")
      (let ((review (outrigger-tests--propose companion "one\n" "two\n")))
        (should-not (outrigger-review-control review))
        (switch-to-buffer "a.txt")
        (outrigger-show)
        (let ((control (outrigger-review-control review)))
          (should (eq (window-buffer) control))
          (should (= (length (frame-list)) 1))
          (should (get-buffer-window (outrigger-review-proposed review)))
          (with-current-buffer control
            (should (eq (key-binding (kbd "C-c C-c")) #'outrigger-accept))
            (should (eq (key-binding (kbd "C-c C-k")) #'outrigger-reject))
            ;; To copy the original over the proposal is to drop the hunk.
            (ediff-next-difference)
            (ediff-copy-A-to-B nil)
            (should (equal (outrigger-review-text review) "one\n"))
            (ediff-really-quit nil)))
        (should (equal outrigger-proposals (list review)))
        (should (eq (window-buffer) (get-buffer "a.txt")))
        (should (= (length (window-list)) 1))
        ;; Out of the other view, and back to where the person was before that.
        (outrigger-diff-unified review t)
        (outrigger-diff-in-ediff)
        (should (= (length (window-list)) 3))
        (outrigger-proposals--closed review)
        (should (eq (window-buffer) (get-buffer "a.txt")))
        (should (= (length (window-list)) 1))))))

;;; Terminals

(declare-function vterm "ext:vterm")
(declare-function vterm-send-string "ext:vterm")

(ert-deftest outrigger-tests-terminals-have-the-environment ()
  (outrigger-tests--listening
    (outrigger-companion-handle companion 'outrigger/ready '(:port 1 :environment (:OUTRIGGER_TEST "found")))
    (let ((shell-file-name "/bin/sh")
          (explicit-shell-file-name "/bin/sh")
          (command "echo \"<$OUTRIGGER_TEST>\""))
      (cl-flet ((shows (buffer)
                  (outrigger-tests--wait
                   (format "the variable in %s" buffer)
                   (lambda ()
                     (with-current-buffer buffer
                       (string-match-p "<found>" (buffer-string)))))))
        (shows (compile command))
        (with-current-buffer (shell)
          (goto-char (point-max))
          (insert command)
          (comint-send-input)
          (shows (current-buffer)))
        (with-current-buffer (save-window-excursion (term "/bin/sh") (current-buffer))
          (process-send-string nil (concat command "\n"))
          (shows (current-buffer)))
        (require 'vterm)
        (with-current-buffer (save-window-excursion (vterm t) (current-buffer))
          (vterm-send-string (concat command "\n"))
          (shows (current-buffer)))
        (with-current-buffer (save-window-excursion (eshell t) (current-buffer))
          (should (equal (getenv "OUTRIGGER_TEST") "found")))
        ;; A terminal somewhere else has nothing to do with it.
        (let ((default-directory temporary-file-directory))
          (with-temp-buffer
            (comint-mode)
            (should-not (getenv "OUTRIGGER_TEST"))))))))

(ert-deftest outrigger-tests-a-companion-that-is-stopped-knows-whether-it-is-started-again ()
  (outrigger-tests--in-workspace
    (let ((companion (outrigger-companion--make outrigger-tests--root))
          said)
      (cl-letf (((symbol-function 'outrigger-companion--start) #'ignore)
                ((symbol-function 'outrigger-companion-notify)
                 (lambda (_ method params) (push (cons method params) said))))
        (outrigger-companion-restart companion)
        (outrigger-companion-stop companion))
      (should (equal (reverse said)
                     '((:outrigger/stop :restart t) (:outrigger/stop)))))))

;;; The companion, with the real program

(defmacro outrigger-tests--accompanied (&rest body)
  "Run BODY in a workspace with a companion of its own."
  (declare (indent 0) (debug t))
  `(outrigger-tests--in-workspace
     (let ((outrigger-program (getenv "OUTRIGGER_PROGRAM")))
       (should outrigger-program)
       (outrigger-tests--file "a.txt" "one\n")
       (outrigger-mode 1)
       (let ((companion (car outrigger-companions)))
         (outrigger-tests--ready companion)
         ,@body))))

(defun outrigger-tests--ready (companion)
  "Wait until the companion of COMPANION is ready."
  (outrigger-tests--wait "the companion" (lambda () (outrigger-companion-environment companion))))

(ert-deftest outrigger-tests-a-companion-ends-with-the-mode ()
  (outrigger-tests--accompanied
    (let ((process (outrigger-connection-process (outrigger-companion-connection companion))))
      (outrigger-mode -1)
      (should-not (process-live-p process))
      (should (equal (process-exit-status process) 0))
      (should-not outrigger-companions))))

(ert-deftest outrigger-tests-a-dead-companion-is-started-again ()
  (outrigger-tests--accompanied
    (let ((port (outrigger-companion-port companion))
          (log (outrigger-log-buffer)))
      (setf (outrigger-companion-environment companion) nil)
      (signal-process (outrigger-connection-process (outrigger-companion-connection companion)) 'KILL)
      (outrigger-tests--ready companion)
      (should (equal (outrigger-companion-port companion) port))
      (with-current-buffer log
        (should (string-match-p "starting it again in 0.25s" (buffer-string)))
        ;; The environment holds secrets.
        (should-not (string-match-p "TOKEN" (buffer-string)))))))

(ert-deftest outrigger-tests-a-pause-outlives-the-companion ()
  (outrigger-tests--accompanied
    (outrigger-pause)
    (outrigger-tests--wait "the pause" (lambda () (outrigger-companion-paused-p companion)))
    (setf (outrigger-companion-environment companion) nil)
    (outrigger-restart)
    (outrigger-tests--ready companion)
    (setf (outrigger-companion-status companion) nil)
    (outrigger-status)
    (outrigger-tests--wait "the status" (lambda () (outrigger-companion-status companion)))
    (should (outrigger-companion-paused-p companion))
    (should (string-search "=" (outrigger-mode-line)))
    (should (string-search "; paused" (outrigger-status-of companion)))))

(ert-deftest outrigger-tests-the-page-is-opened ()
  (outrigger-tests--accompanied
    (let (opened)
      (cl-letf (((symbol-function 'browse-url) (lambda (url &rest _) (setq opened url))))
        (outrigger-open-page)
        (outrigger-tests--wait "the page" (lambda () opened)))
      (should (string-prefix-p (format "http://127.0.0.1:%d/#" (outrigger-companion-port companion))
                               opened)))))

(ert-deftest outrigger-tests-health ()
  (outrigger-tests--accompanied
    (outrigger-health)
    (with-current-buffer "*outrigger-health*"
      (should-not (string-match-p "FIX" (buffer-string)))
      (should (string-search "outrigger run -- qwen" (buffer-string)))
      (should (string-search (format "on port %s" (outrigger-companion-port companion)) (buffer-string))))))

(ert-deftest outrigger-tests-health-of-a-closed-folder ()
  (should (equal (outrigger-health--fault
                  '(:source "/w/.outrigger.toml" :line 2 :column 10 :message "no list" :folder "/w"))
                 '(nil "agents see nothing of /w: /w/.outrigger.toml:2:10: no list"
                       "correct it; the companion reads it again at once")))
  (outrigger-tests--accompanied
    (let ((file (expand-file-name ".outrigger.toml" (outrigger-companion-root companion))))
      (with-temp-file file (insert "ignore = 3\n"))
      (outrigger-tests--wait "the fault"
        (lambda () (not (seq-empty-p (plist-get (outrigger-companion-status companion) :faults)))))
      (outrigger-health)
      (with-current-buffer "*outrigger-health*"
        (should (string-match-p "FIX.*\\.outrigger\\.toml:1:10: " (buffer-string))))
      (delete-file file)
      (outrigger-tests--wait "the mended file"
        (lambda () (seq-empty-p (plist-get (outrigger-companion-status companion) :faults)))))))

(ert-deftest outrigger-tests-no-program ()
  (outrigger-tests--in-workspace
    (let ((outrigger-program "no-such-program")
          (outrigger-companion--told-missing nil)
          (warnings 0))
      (cl-letf (((symbol-function 'display-warning) (lambda (&rest _) (cl-incf warnings))))
        (outrigger-mode 1)
        (outrigger-tests--file "a.txt" "one\n")
        (outrigger-tests--file "b.txt" "one\n"))
      (should (= warnings 1))
      (should-not outrigger-companions)
      (outrigger-health)
      (with-current-buffer "*outrigger-health*"
        (should (string-match-p "FIX.*no-such-program" (buffer-string)))))))

(ert-deftest outrigger-tests-a-program-that-ends-at-once ()
  "It is started again, later and later, and the person hears of it once."
  (outrigger-tests--in-workspace
    (let ((outrigger-program (executable-find "false"))
          (told 0))
      (cl-letf* ((message (symbol-function 'message))
                 ((symbol-function 'message)
                  (lambda (format &rest arguments)
                    (when (string-prefix-p "Outrigger: the companion ended" (or format ""))
                      (cl-incf told))
                    (apply message format arguments))))
        (outrigger-mode 1)
        (outrigger-tests--file "a.txt" "one\n")
        (let ((companion (car outrigger-companions)))
          (outrigger-tests--wait "the third end"
                                 (lambda () (= (outrigger-companion-failures companion) 3)))
          (should (eq (outrigger-companion-state companion) 'restarting))
          (setf (outrigger-companion-status companion) '(:pending 1))
          (should (equal (outrigger-mode-line) " Outr-"))))
      (should (= told 1)))))

(ert-deftest outrigger-tests-a-program-that-never-runs-is-given-up ()
  "The person is told so once, and a restart begins the count anew."
  (outrigger-tests--in-workspace
    (let ((outrigger-program (executable-find "false"))
          (outrigger-restart--waits '(0.01 0.01 0.01 0.01 0.01))
          warnings)
      (cl-letf (((symbol-function 'display-warning) (lambda (_ text &rest _) (push text warnings))))
        (outrigger-mode 1)
        (outrigger-tests--file "a.txt" "one\n")
        (let ((companion (car outrigger-companions)))
          (outrigger-tests--wait "the end of all tries"
                                 (lambda () (eq (outrigger-companion-state companion) 'failed)))
          (should (= (outrigger-companion-failures companion) 6))
          (should (= (length warnings) 1))
          (should (string-prefix-p "the companion ends again and again" (car warnings)))
          (should (string-search "the companion is failed (given up)"
                                 (outrigger-status-of companion)))
          (outrigger-restart)
          (outrigger-tests--wait "the end of all tries again"
                                 (lambda () (eq (outrigger-companion-state companion) 'failed)))
          (should (= (length warnings) 2)))))))

(ert-deftest outrigger-tests-another-version ()
  "A program that speaks another version is told of, and not started again."
  (outrigger-tests--in-workspace
    (let* ((answer "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"capabilities\":{\"experimental\":\
{\"outrigger\":{\"version\":99}}},\"serverInfo\":{\"version\":\"9.9.9\"}}}")
           (outrigger-program (expand-file-name "other"))
           warning)
      (write-region (format "#!/bin/sh\nprintf 'Content-Length: %d\\r\\n\\r\\n%%s' '%s'\ncat\n"
                            (length answer) answer)
                    nil outrigger-program nil 'silent)
      (set-file-modes outrigger-program #o700)
      (cl-letf (((symbol-function 'display-warning) (lambda (_ text &rest _) (setq warning text))))
        (outrigger-mode 1)
        (outrigger-tests--file "a.txt" "one\n")
        (outrigger-tests--wait "the warning" (lambda () warning)))
      (should (string-match-p "outrigger 9.9.9 speaks version 99" warning))
      (should (eq (outrigger-companion-state (car outrigger-companions)) 'failed)))))

(ert-deftest outrigger-tests-workspaces ()
  (let* ((root (file-name-as-directory (file-truename (make-temp-file "outrigger-tests" t))))
         (inside (file-name-as-directory (expand-file-name "a/b" root)))
         (command-line-default-directory root))
    (unwind-protect
        (progn
          (make-directory inside t)
          (should (file-equal-p (outrigger-project-root inside) root))
          (let ((process-environment (cons (concat "HOME=" root) process-environment)))
            (should-not (outrigger-project-root inside)))
          (let ((command-line-default-directory "/"))
            (should-not (outrigger-project-root inside))
            (make-directory (expand-file-name ".git" root))
            (should (file-equal-p (outrigger-project-root inside) root))))
      (delete-directory root t))))

(provide 'outrigger-tests)
;;; outrigger-tests.el ends here
