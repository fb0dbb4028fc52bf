/** No agent yet? The commands for exactly this folder. */

import type { App } from "../state/app";
import { visible } from "../text/visible";
import { Copy } from "./copy";

export function HowToConnect({ app }: { app: App }) {
  const hints = app.situation.value?.hints;
  if (hints === undefined) return null;
  return (
    <section class="connect" aria-labelledby="connect-title">
      <h3 id="connect-title">No agent yet?</h3>
      <p>Start one in another terminal. It finds this companion by itself.</p>
      <ul class="commands">
        {hints.commands.map(({ agent, command }) => (
          <li key={command} data-hint={agent}>
            <span class="command-agent">{visible(agent)}</span>
            <p class="command">
              <code>{visible(command)}</code>
              <Copy text={command} label="Copy" name="copy-command" />
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
