/** Why there is no connection to a daemon, and what to do about it. */

import { visible } from "../text/visible";
import { CopyButton } from "../views/copy-button";
import type { Chat } from "./chat";
import { Markdown } from "./markdown/view";

/** Failures that starting a daemon from here would solve. */
const STARTABLE = new Set(["no_daemon", "not_a_daemon", "wrong_folder", "unreachable"]);

export function ConnectionProblem({ chat }: { chat: Chat }) {
  const { connection } = chat.status.value;
  if (connection.state === "off") {
    return (
      <section class="connection-problem" data-trouble="off">
        <h3>Not connected to a daemon</h3>
        <p class="actions">
          <Retry chat={chat} words="Connect" />
          <Start chat={chat} />
        </p>
      </section>
    );
  }
  if (connection.state === "lost") {
    return (
      <section class="connection-problem" data-trouble="lost">
        <h3>{visible(connection.why)}</h3>
        {connection.canRetry && (
          <p class="actions">
            <Retry chat={chat} words="Retry" />
          </p>
        )}
      </section>
    );
  }
  if (connection.state !== "failed") return null;
  const { trouble, why, hint } = connection;
  return (
    <section class="connection-problem" data-trouble={trouble}>
      <h3>{visible(why)}</h3>
      {hint !== undefined && <Markdown text={hint} />}
      {trouble === "no_daemon" && (
        <p class="command">
          <code>qwen serve</code>
          <CopyButton text="qwen serve" label="Copy" name="copy-command" />
        </p>
      )}
      <p class="actions">
        <Retry chat={chat} words="Retry" />
        {STARTABLE.has(trouble) && <Start chat={chat} />}
      </p>
    </section>
  );
}

function Retry({ chat, words }: { chat: Chat; words: string }) {
  return (
    <button type="button" class="button" data-act="retry" onClick={() => void chat.connect("last")}>
      {words}
    </button>
  );
}

function Start({ chat }: { chat: Chat }) {
  return (
    <button
      type="button"
      class="button"
      data-act="start-daemon"
      onClick={() => void chat.startDaemon()}
    >
      Start a daemon here
    </button>
  );
}
