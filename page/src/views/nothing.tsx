/** What stands where no diff is: nothing to review, still loading, or could not load. */

import type { Proposal } from "../api/wire";
import type { App } from "../state/app";
import type { Panel, Table } from "../state/table";
import { count } from "../text/format";
import { splitPath } from "../text/visible";
import { HowToConnect } from "./connect";

export function Nothing({ app }: { app: App }) {
  const sessions = app.situation.value?.sessions ?? [];
  return (
    <div class="nothing">
      <h2>Nothing to review</h2>
      {sessions.length > 0 ? (
        <p>
          {count(sessions.length, "agent")} connected. Edits that an agent proposes appear here.
        </p>
      ) : (
        <HowToConnect app={app} />
      )}
    </div>
  );
}

export function Loading({ proposal }: { proposal?: Proposal }) {
  return (
    <section class="sheet" aria-busy="true" data-detail={proposal?.id}>
      <div class="sheet-head">
        <h2 class="path">{proposal && <bdi>{splitPath(proposal.path).name}</bdi>}</h2>
      </div>
    </section>
  );
}

export function Incomplete() {
  return (
    <div class="nothing" role="alert" data-notice="incomplete">
      <h2>A part of this page could not be fetched</h2>
      <p>Reload it when the companion is running again.</p>
    </div>
  );
}

export function Failed({
  table,
  panel,
}: {
  table: Table;
  panel: Extract<Panel, { kind: "failed" }>;
}) {
  return (
    <section class="sheet nothing" data-notice="failed">
      <h2>{splitPath(panel.proposal.path).name} could not be loaded</h2>
      <p role="alert">{panel.message}</p>
      <button
        type="button"
        class="button"
        data-act="reload"
        onClick={() => table.select(panel.proposal.id)}
      >
        Try again
      </button>
    </section>
  );
}
