/** The queue: every pending proposal, over all files and agents, oldest first. */

import { useComputed } from "@preact/signals";
import type { Proposal } from "../api/wire";
import type { App } from "../state/app";
import { clock } from "../state/clock";
import { ago, count } from "../text/format";
import { relativePath, splitPath, visible } from "../text/visible";
import { Lines } from "./lines";

export function Queue({ app, choose }: { app: App; choose: (id: number) => void }) {
  const proposals = app.proposals.value;
  return (
    <nav class="queue" aria-label="Proposals">
      <div class="queue-head">
        <h2 class="queue-title">{count(proposals.length, "proposal")}</h2>
        {proposals.length > 1 && (
          <button
            type="button"
            class="button small"
            data-act="several"
            onClick={() => app.reviews.summarise()}
          >
            All…
          </button>
        )}
      </div>
      <ol>
        {proposals.map((proposal) => (
          <Item key={proposal.id} app={app} proposal={proposal} choose={choose} />
        ))}
      </ol>
      <KeptTexts app={app} />
    </nav>
  );
}

/** Proposals that were closed while the person was editing them. */
function KeptTexts({ app }: { app: App }) {
  const { shownKept } = app.reviews;
  const kept = app.reviews.kept.all.value;
  if (kept.length === 0) return null;
  return (
    <>
      <h2 class="queue-title">Texts of yours that are kept</h2>
      <ul class="queue-kept">
        {kept.map(({ number, proposal }) => (
          <li key={number}>
            <button
              type="button"
              class="item"
              data-kept={number}
              aria-current={shownKept.value === number ? "true" : undefined}
              onClick={() => app.reviews.showKept(number)}
            >
              <span class="item-name">
                <bdi>{splitPath(proposal.path).name}</bdi>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

interface ItemProps {
  app: App;
  proposal: Proposal;
  choose: (id: number) => void;
}

function Item({ app, proposal, choose }: ItemProps) {
  const { folder, name } = splitPath(relativePath(proposal.path, app.roots.value));
  const selected = useComputed(
    // The kept text of a proposal that is still pending may be shown instead.
    () => app.reviews.selected.value === proposal.id && app.reviews.shownKept.value === undefined,
  ).value;
  return (
    <li>
      <button
        type="button"
        class="item"
        data-proposal={proposal.id}
        aria-current={selected ? "true" : undefined}
        ref={selected ? scrollIntoView : null}
        onClick={() => choose(proposal.id)}
      >
        <span class="item-name">
          <bdi>{name}</bdi>
        </span>
        <span class="item-what">
          <Mark proposal={proposal} />
          {proposal.added === undefined || proposal.newFile ? summaryOf(proposal) : null}{" "}
          <Lines proposal={proposal} as="span" />
        </span>
        <span class="item-folder">
          <bdi>{folder}</bdi>
        </span>
        <span class="item-when">{ago(proposal.openedAt, clock.value)}</span>
        <span class="item-agent" title={visible(proposal.who)}>
          {visible(proposal.who)}
        </span>
      </button>
    </li>
  );
}

/** What makes it need more than a quick look. */
function Mark({ proposal: { conflicts, stale } }: { proposal: Proposal }) {
  if (conflicts > 0) {
    return (
      <span class="mark" data-mark="conflicts" title={`${count(conflicts, "conflict")} to resolve`}>
        {count(conflicts, "conflict")}
      </span>
    );
  }
  if (stale === undefined) return null;
  return (
    <span class="mark" data-mark="stale" title={visible(stale)}>
      stale
    </span>
  );
}

function summaryOf({ terminalOnly, newFile, hunks }: Proposal): string {
  if (terminalOnly !== undefined) return "terminal";
  return newFile ? "new file" : count(hunks, "hunk");
}

function scrollIntoView(element: Element | null): void {
  element?.scrollIntoView({ block: "nearest" });
}
