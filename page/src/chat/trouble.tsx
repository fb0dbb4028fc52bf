/** Why there is no conversation, and what to do about it. */

import { visible } from "../text/visible";
import { Copy } from "../views/copy";
import type { Chat } from "./chat";
import { Markdown } from "./markdown/view";

/** Troubles that a daemon of one's own would solve. */
const STARTABLE = new Set(["no_daemon", "not_a_daemon", "wrong_folder", "unreachable"]);

export function Trouble({ chat }: { chat: Chat }) {
  const { connection } = chat.status.value;
  if (connection.state === "off") {
    return (
      <section class="trouble" data-trouble="off">
        <h3>Not connected to a daemon</h3>
        <p class="acts">
          <Retry chat={chat} words="Connect" />
          <Start chat={chat} />
        </p>
      </section>
    );
  }
  if (connection.state === "lost") {
    return (
      <section class="trouble" data-trouble="lost">
        <h3>{visible(connection.why)}</h3>
        {connection.canRetry && (
          <p class="acts">
            <Retry chat={chat} words="Retry" />
          </p>
        )}
      </section>
    );
  }
  if (connection.state !== "failed") return null;
  const { trouble, why, hint } = connection;
  return (
    <section class="trouble" data-trouble={trouble}>
      <h3>{visible(why)}</h3>
      {hint !== undefined && <Markdown text={hint} />}
      {trouble === "no_daemon" && (
        <p class="command">
          <code>qwen serve</code>
          <Copy text="qwen serve" label="Copy" name="copy-command" />
        </p>
      )}
      <p class="acts">
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

/** The chat is off unless the person switches it on. */
export function Disabled() {
  return (
    <div class="nothing" data-chat-state="disabled">
      <h2>The chat is off</h2>
      <p>
        Here you can talk to an agent that runs as a daemon, <code>qwen serve</code>, and answer
        what it asks. Switch it on in one of these ways:
      </p>
      <dl class="ways">
        <div>
          <dt>for once</dt>
          <dd class="command">
            <code>outrigger --daemon</code>
            <Copy text="outrigger --daemon" label="Copy" name="copy-command" />
          </dd>
        </div>
        <div>
          <dt>in the configuration file</dt>
          <dd class="command">
            <code>[daemon] enabled = true</code>
            <Copy text={"[daemon]\nenabled = true\n"} label="Copy" name="copy-command" />
          </dd>
        </div>
        <div>
          <dt>in the environment, for a daemon at another address</dt>
          <dd class="command">
            <code>QWEN_IDE_DAEMON_URL</code>
            <Copy text="QWEN_IDE_DAEMON_URL" label="Copy" name="copy-command" />
          </dd>
        </div>
      </dl>
    </div>
  );
}
