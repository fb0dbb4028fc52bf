/** What is shown instead of a diff: nothing to review, loading, or a failure. */

import type { Proposal } from "../api/wire";
import type { App } from "../state/app";
import { isConnected } from "../state/companion";
import type { Panel, Reviews } from "../state/reviews";
import { count } from "../text/format";
import { splitPath, visible } from "../text/visible";
import { HowToConnect } from "./connect";

export function NoProposals({ app }: { app: App }) {
  const sessions = app.companion.value?.sessions ?? [];
  const connected = sessions.filter(isConnected).length;
  const notes = sessions.flatMap(({ note }) => (note === undefined ? [] : [note]));
  return (
    <div class="placeholder">
      <h2>Nothing to review</h2>
      {connected > 0 ? (
        <>
          <p data-connected={connected}>
            {count(connected, "agent")} connected. Edits that an agent proposes appear here.
          </p>
          {notes.map((note) => (
            <p key={note} class="agent-note" data-notice="agent-note">
              {visible(note)}
            </p>
          ))}
        </>
      ) : (
        <HowToConnect app={app} />
      )}
    </div>
  );
}

export function Loading({ proposal }: { proposal?: Proposal }) {
  return (
    <section class="proposal" aria-busy="true" data-detail={proposal?.id}>
      <div class="proposal-head">
        <h2 class="path">{proposal && <bdi>{splitPath(proposal.path).name}</bdi>}</h2>
      </div>
    </section>
  );
}

export function EditorUnavailable() {
  return (
    <div class="placeholder" role="alert" data-notice="incomplete">
      <h2>A part of this page could not be loaded</h2>
      <p>Reload the page when the companion is running again.</p>
    </div>
  );
}

export function LoadFailed({
  reviews,
  panel,
}: {
  reviews: Reviews;
  panel: Extract<Panel, { kind: "failed" }>;
}) {
  return (
    <section class="proposal placeholder" data-notice="failed">
      <h2>{splitPath(panel.proposal.path).name} could not be loaded</h2>
      <p role="alert">{panel.message}</p>
      <button
        type="button"
        class="button"
        data-act="reload"
        onClick={() => reviews.select(panel.proposal.id)}
      >
        Try again
      </button>
    </section>
  );
}
