/** What agents see right now, who they are, and what happened. */

import { useComputed } from "@preact/signals";
import type { Session } from "../api/wire";
import type { App } from "../state/app";
import { clock } from "../state/clock";
import { type CompanionState, isConnected } from "../state/companion";
import { ago, count, size, time } from "../text/format";
import { logSentence } from "../text/log-entry";
import { relativePath, visible } from "../text/visible";
import { HowToConnect } from "./connect";

export function LiveView({ app }: { app: App }) {
  const companion = app.companion.value;
  if (companion === undefined) return null;
  return (
    <div class="live">
      <Seen companion={companion} />
      <HeldBack companion={companion} />
      <Connected app={app} companion={companion} />
      <Log app={app} />
    </div>
  );
}

function Seen({ companion }: { companion: CompanionState }) {
  const { context, status } = companion;
  return (
    <section class="card seen" aria-labelledby="seen-title">
      <h2 id="seen-title">Open files</h2>
      <p class="quiet">
        {context.paused
          ? "Paused: agents are told nothing new."
          : `${count(context.files.length, "open file")}, ${size(context.bytes)}${
              context.at === undefined ? "" : `, sent at ${time(context.at)}`
            }`}
      </p>
      {context.files.length === 0 && !context.paused && (
        <p>
          No file is open. Agents learn of files from your editor, or with{" "}
          <code>outrigger focus</code>.
        </p>
      )}
      <ul class="rows">
        {context.files.map((file) => (
          <li key={file.path} data-file={file.path}>
            <p class="row">
              <span class="mono" title={visible(file.path)}>
                <bdi>{visible(relativePath(file.path, status.roots))}</bdi>
              </span>
              {file.active && <span class="badge agent">active</span>}
              {file.line !== undefined && (
                <span class="quiet">
                  line {file.line}
                  {file.column !== undefined && `, column ${file.column}`}
                </span>
              )}
            </p>
            {file.selection !== undefined && file.selection !== "" && (
              <figure class="selection">
                <figcaption class="quiet">Selected text</figcaption>
                <pre>{file.selection.split("\n").map(visible).join("\n")}</pre>
              </figure>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function HeldBack({ companion }: { companion: CompanionState }) {
  const { context, status } = companion;
  return (
    <section class="card" aria-labelledby="held-title">
      <h2 id="held-title">Held back</h2>
      <p class="quiet">Open files that no agent is told about.</p>
      {context.heldBack.length === 0 && <p>None.</p>}
      <ul class="rows">
        {context.heldBack.map(({ path, reason }) => (
          <li key={path} class="row" data-held={path}>
            <span class="mono" title={visible(path)}>
              <bdi>{visible(relativePath(path, status.roots))}</bdi>
            </span>
            <span class="quiet">{visible(reason)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Connected({ app, companion }: { app: App; companion: CompanionState }) {
  const { sessions, status } = companion;
  return (
    <section class="card" aria-labelledby="connected-title">
      <h2 id="connected-title">Agents</h2>
      <p class="quiet">
        {status.roots.map(visible).join(", ")}, port {status.port}, Outrigger {status.version}
      </p>
      {status.editors.length > 0 && (
        <p class="quiet" data-editors={status.editors.length}>
          In {status.editors.map(({ name }) => visible(name)).join(", ")}
        </p>
      )}
      {sessions.length === 0 && <HowToConnect app={app} />}
      <ul class="rows">
        {sessions.map((session) => (
          <li key={session.id} class="row" data-session={session.id}>
            <strong>{visible(session.label)}</strong>
            <span class="quiet" title={new Date(session.since).toLocaleString("en-GB")}>
              since {time(session.since)}, {ago(session.since, clock.value)}
            </span>
            {session.undelivered > 0 && (
              <span class="badge">{count(session.undelivered, "decision")} to deliver</span>
            )}
            <Absence session={session} />
            {isConnected(session) && session.note !== undefined && (
              <p class="agent-note" data-notice="agent-note">
                {visible(session.note)}
              </p>
            )}
          </li>
        ))}
      </ul>
      {status.problems.length > 0 && (
        <ul class="problems">
          {status.problems.map((problem) => (
            <li key={problem}>{visible(problem)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Why an agent cannot be told anything just now, and what that means for the person. */
function Absence({ session }: { session: Session }) {
  if (isConnected(session)) return null;
  return (
    <p class="absence" data-presence={session.presence}>
      {visible(session.note ?? session.presence)}
    </p>
  );
}

function Log({ app }: { app: App }) {
  const entries = useComputed(() => app.companion.value?.log.toReversed() ?? []);
  const roots = app.roots.value;
  return (
    <section class="card log" aria-labelledby="log-title">
      <h2 id="log-title">What happened</h2>
      {entries.value.length === 0 && <p>Nothing yet.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element has to be reachable with the keyboard. */}
      <ol class="entries" tabIndex={0} aria-label="Newest first">
        {entries.value.map((entry) => (
          <li key={entry.number} class="row" data-log={entry.number} data-kind={entry.kind}>
            <time class="quiet" dateTime={new Date(entry.at).toISOString()}>
              {time(entry.at)}
            </time>
            <span>{logSentence(entry, (path) => relativePath(path, roots))}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
