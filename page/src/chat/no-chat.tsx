/** What is shown where the chat would be: how it is switched on, or which mistake keeps it from being there. */

import { visible } from "../text/visible";
import { CopyButton } from "../views/copy-button";

/** `why` are the companion's words about a mistake in the settings, if there is one. */
export function NoChat({ why }: { why: string | undefined }) {
  return why === undefined ? <HowToSwitchOn /> : <Mistake why={why} />;
}

function Mistake({ why }: { why: string }) {
  return (
    <div class="placeholder" data-chat-state="mistaken">
      <h2>There is no chat</h2>
      <p class="quiet">It is switched on, but cannot be used with what is set:</p>
      <p class="mistake" data-no-conversation>
        {visible(why)}
      </p>
    </div>
  );
}

/** They are switched off, which is the default. */
function HowToSwitchOn() {
  return (
    <div class="placeholder" data-chat-state="disabled">
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
            <CopyButton text="outrigger --daemon" label="Copy" name="copy-command" />
          </dd>
        </div>
        <div>
          <dt>in the configuration file</dt>
          <dd class="command">
            <code>[daemon] enabled = true</code>
            <CopyButton text={"[daemon]\nenabled = true\n"} label="Copy" name="copy-command" />
          </dd>
        </div>
        <div>
          <dt>in the environment, for a daemon at another address</dt>
          <dd class="command">
            <code>QWEN_IDE_DAEMON_URL</code>
            <CopyButton text="QWEN_IDE_DAEMON_URL" label="Copy" name="copy-command" />
          </dd>
        </div>
      </dl>
    </div>
  );
}
