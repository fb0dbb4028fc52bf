;;; outrigger-config.el --- The person's settings  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Everything that can be customised, in one place.

;;; Code:

(defgroup outrigger nil
  "IDE mode of terminal coding agents."
  :group 'tools
  :prefix "outrigger-"
  :link '(url-link "https://github.com/outrigger-dev/outrigger"))

;;; The companion

(defcustom outrigger-program "outrigger"
  "The outrigger program: a name to look up in variable `exec-path', or a path."
  :type 'string)

(defcustom outrigger-arguments nil
  "More arguments for \"outrigger lsp\", as a list of strings."
  :type '(repeat string))

(defcustom outrigger-agents nil
  "Names of the agents that may connect; nil lets in all that outrigger knows."
  :type '(repeat string))

(defcustom outrigger-ignore nil
  "Patterns of files that agents are not told about, written as in .gitignore.
They are added to those of the program's own configuration."
  :type '(repeat string))

(defcustom outrigger-daemon nil
  "Whether to offer conversations with a daemon, and with which one.
With nil, the configuration of the program decides.  With t they
are offered, and with `never' they are not.  A plist says more, and
goes before that configuration:

`:enabled'     whether they are offered.  Without it, a `:url' switches
               them on.
`:url'         where the daemon is, such as \"http://127.0.0.1:4170\".
`:token-file'  a file with its token.  There is no option for the token
               itself, because settings are copied and shared.
`:mode'        what the agent may do without asking in a conversation
               that starts here: \"plan\", \"default\", \"auto-edit\",
               \"auto\" or \"yolo\".
`:model'       the model of a conversation that starts here.

It is read when a companion is started."
  :risky t
  :type '(choice (const :tag "As the program is configured" nil)
                 (const :tag "Yes" t)
                 (const :tag "No" never)
                 (plist :tag "This one"
                        :options ((:enabled boolean)
                                  (:url string)
                                  (:token-file file)
                                  (:mode (choice (const "plan") (const "default") (const "auto-edit")
                                                 (const "auto") (const "yolo")))
                                  (:model string)))))

(defcustom outrigger-workspace-function 'outrigger-project-root
  "Function that finds the workspace of a folder.
It is called with the name of the folder, and returns the root of
the workspace or nil, which means that the folder is in none."
  :type 'function)

(defcustom outrigger-ready-hook nil
  "Hook run when a companion is ready for agents.
It runs with `default-directory' set to the root of the workspace."
  :type 'hook)

;;; What agents see

(defcustom outrigger-size-limit (* 4 1024 1024)
  "The largest buffer in characters whose text is shared with the companion.
Of a larger one agents only learn the name."
  :type 'natnum)

;;; Proposals

(defcustom outrigger-diff-function 'outrigger-diff-unified
  "Function that shows a proposal.
It is called with a review and with whether to select its window.
`outrigger-diff-unified' shows a diff beside what the person is
doing.  `outrigger-diff-ediff' starts an Ediff session, which takes
the whole frame, so it waits until the person may be interrupted.
A function of your own finds the two texts with
`outrigger-review-original' and `outrigger-review-proposed'."
  :type '(choice (function-item outrigger-diff-unified)
                 (function-item outrigger-diff-ediff)
                 function))

(defcustom outrigger-select-proposal nil
  "Whether to select the window of a proposal that comes.
With t it is selected as soon as the person may be interrupted;
with `always', at once."
  :type '(choice (const :tag "Never" nil)
                 (const :tag "When the person may be interrupted" t)
                 (const :tag "Always" always)))

(defcustom outrigger-terminal-modes
  '(comint-mode eat-mode eshell-mode term-mode vterm-mode)
  "Major modes in which a person types to a program, and is not interrupted."
  :type '(repeat symbol))

(defcustom outrigger-proposal-opened-functions nil
  "Functions called with each review that comes."
  :type 'hook)

(defcustom outrigger-proposal-closed-functions nil
  "Functions called with each review that is over."
  :type 'hook)

;;; Conversations

(defcustom outrigger-chat-ask-at-once t
  "Whether to ask in the minibuffer as soon as the person may be interrupted.
Otherwise \\[outrigger-chat-answer] does."
  :type 'boolean)

(provide 'outrigger-config)
;;; outrigger-config.el ends here
