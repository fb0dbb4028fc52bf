/** Where the person writes a prompt and attaches files or the selection; `@` and `/` complete. */

import type { App } from "../state/app";
import { count } from "../text/format";
import { splitPath, visible } from "../text/visible";
import type { Chat } from "./chat";
import { PromptInput } from "./prompt-input";

export function Composer({ app }: { app: App }) {
  const { chat } = app;
  const { busy, suggestion } = chat.status.value;
  const open = chat.isOpen.value;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void chat.send();
      }}
    >
      <Refusal chat={chat} />
      <Waiting chat={chat} />
      {suggestion !== undefined && chat.text.value === "" && (
        <button
          type="button"
          class="suggestion"
          data-act="suggestion"
          aria-label={`Use the suggestion: ${visible(suggestion)}`}
          onClick={() => {
            chat.text.value = suggestion;
          }}
        >
          {visible(suggestion)}
        </button>
      )}
      <Attached chat={chat} />
      <PromptInput app={app} />
      <div class="composer-foot">
        <Selection app={app} />
        <span class="grow" />
        {busy && (
          <button
            type="button"
            class="button reject"
            data-act="stop"
            onClick={() => void chat.cancel()}
          >
            Stop
          </button>
        )}
        <button
          type="submit"
          class="button accept"
          data-act="send"
          disabled={!open || chat.sending.value || chat.text.value.trim() === ""}
        >
          {busy ? "Queue" : "Send"}
        </button>
      </div>
    </form>
  );
}

/** Why the last action failed. A failed connection is reported by `ConnectionProblem` instead. */
function Refusal({ chat }: { chat: Chat }) {
  if (chat.refusal.value === undefined || chat.state.value === "failed") return null;
  return (
    <p class="refusal" role="alert" data-notice="chat-refused">
      {visible(chat.refusal.value)}
    </p>
  );
}

/** Prompts that wait until the current turn ends. */
function Waiting({ chat }: { chat: Chat }) {
  const { queue } = chat.status.value;
  if (queue.length === 0) return null;
  return (
    <div class="waiting" data-queue>
      <p class="quiet">{count(queue.length, "prompt")} waiting for the turn to end:</p>
      <ol>
        {queue.map(({ prompt, text }) => (
          <li key={prompt}>
            <span>{visible(text?.trim() ?? "a prompt from elsewhere")}</span>
            <button
              type="button"
              class="button small"
              data-act="withdraw"
              aria-label={`Withdraw: ${visible(text?.trim() ?? "a prompt from elsewhere")}`}
              onClick={() => void chat.withdraw(prompt, text?.trim())}
            >
              Withdraw
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Attached({ chat }: { chat: Chat }) {
  if (chat.files.value.length === 0) return null;
  return (
    <ul class="attached" aria-label="Attached files">
      {chat.files.value.map((file) => (
        <li key={file} class="badge agent" data-attached={file}>
          <bdi class="mono">{visible(file)}</bdi>
          <button
            type="button"
            class="detach"
            data-act="detach"
            aria-label={`Do not attach ${visible(file)}`}
            onClick={() => chat.detach(file)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Whether to attach the text that is selected in the editor, and which text that is now. */
function Selection({ app }: { app: App }) {
  const files = app.companion.value?.context.files ?? [];
  const file = files.find(({ active, selection }) => active && selection);
  if (file?.selection === undefined) return null;
  const lines = file.selection.replace(/\n$/, "").split("\n").length;
  return (
    <label class="with-selection" title={visible(file.selection.slice(0, 400))}>
      <input
        type="checkbox"
        data-attach-selection
        checked={app.chat.withSelection.value}
        onChange={(event) => {
          app.chat.withSelection.value = event.currentTarget.checked;
        }}
      />
      <span>
        Attach selection{" "}
        <span class="quiet">
          <bdi>{splitPath(file.path).name}</bdi>, {count(lines, "line")}
        </span>
      </span>
    </label>
  );
}
