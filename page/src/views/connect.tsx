/** How to start an agent in this folder, for a companion without one. */

import type { App } from "../state/app";
import { visible } from "../text/visible";
import { CopyButton } from "./copy-button";

export function HowToConnect({ app }: { app: App }) {
  const hints = app.companion.value?.hints;
  if (hints === undefined) return null;
  return (
    <section class="connect" aria-labelledby="connect-title">
      <h3 id="connect-title">No agent yet?</h3>
      <p>Start one in another terminal. It finds this companion on its own.</p>
      <ul class="commands">
        {hints.commands.map(({ agent, command }) => (
          <li key={command} data-hint={agent}>
            <span class="command-agent">{visible(agent)}</span>
            <p class="command">
              <code>{visible(command)}</code>
              <CopyButton text={command} label="Copy" name="copy-command" />
            </p>
          </li>
        ))}
      </ul>
      {hints.problems.length > 0 && (
        <>
          <h3>What may keep it from connecting</h3>
          <ul class="problems">
            {hints.problems.map((problem) => (
              <li key={problem}>{visible(problem)}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
