/** One proposal: its path and properties, its diff, and the decision. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Proposal } from "../api/wire";
import { DiffView, type Layout } from "../diff/view";
import { conflictsOf } from "../review/conflicts";
import { BOM, lineEndingOf } from "../review/file-format";
import { isDeletion, type Review } from "../review/review";
import type { App } from "../state/app";
import type { OpenReview } from "../state/open-review";
import type { Panel, Reviews } from "../state/reviews";
import { count } from "../text/format";
import { relativePath, splitPath, visible } from "../text/visible";
import { Decision } from "./decision";
import { Lines } from "./lines";

type OpenPanel = Extract<Panel, { kind: "open" }>;

export function ProposalView({
  app,
  panel,
  back,
}: {
  app: App;
  panel: OpenPanel;
  back: () => void;
}) {
  const { reviews } = app;
  const { open } = reviews;
  const { proposal } = panel;
  const review = open.review.value;
  if (review === undefined) return null;
  const { terminalOnly } = proposal;
  return (
    <section
      class="proposal"
      aria-label="Proposal"
      data-detail={proposal.id}
      data-ready={terminalOnly === undefined ? open.hunks.value !== undefined : true}
      data-editing={open.editing.value}
      data-layout={open.opening.value.layout}
      data-changed={open.isChanged.value}
      data-settled={reviews.isSettled.value}
    >
      <Head app={app} proposal={proposal} review={review} back={back} />
      <Notices app={app} review={review} />
      {terminalOnly === undefined ? (
        <Diff reviews={reviews} />
      ) : (
        <div class="placeholder" data-notice="terminal-only">
          <h3>Only the terminal can accept this</h3>
          <p>{visible(terminalOnly)}</p>
          <p>Answer at {visible(proposal.agent)}’s own prompt, or reject it here.</p>
        </div>
      )}
      <Decision app={app} review={review} />
    </section>
  );
}

function Head({
  app,
  proposal,
  review,
  back,
}: {
  app: App;
  proposal: Proposal;
  review: Review;
  back: () => void;
}) {
  const { folder, name } = splitPath(relativePath(proposal.path, app.roots.value));
  return (
    <div class="proposal-head">
      <button type="button" class="button plain back" data-act="back" onClick={back}>
        ‹ Queue
      </button>
      <h2 class="path" title={visible(proposal.path)}>
        <bdi class="path-folder">{folder}</bdi>
        <bdi>{name}</bdi>
      </h2>
      <ul class="badges" aria-label="About this proposal">
        <li class="badge agent">{visible(proposal.who)}</li>
        <Lines proposal={proposal} as="li" />
        {badgesOf(review).map(([kind, words]) => (
          <li key={kind} class="badge" data-badge={kind}>
            {words}
          </li>
        ))}
      </ul>
      <span class="grow" />
      <Layouts open={app.reviews.open} review={review} />
    </div>
  );
}

/** What must be known before a decision. */
function Notices({ app, review }: { app: App; review: Review }) {
  const { detail } = review;
  const conflicts = conflictsOf(review).length;
  const others = app.proposals.value.filter(
    ({ id, path }) => id !== detail.id && path === detail.path,
  );
  return (
    <div class="notices">
      {detail.stale !== undefined && (
        <p class="notice" role="alert" data-notice="stale">
          Look twice: {visible(detail.stale)}.
        </p>
      )}
      {detail.withheld !== undefined && (
        <p class="notice" role="note" data-notice="withheld">
          Look twice: {visible(detail.withheld)}.
        </p>
      )}
      {conflicts > 0 && (
        <p class="notice" role="alert" data-notice="conflicts">
          <span>
            {count(conflicts, "conflict")} in the result. Edit each place, and remove its markers.
          </span>
          <button
            type="button"
            class="button small"
            data-act="next-conflict"
            onClick={() => app.reviews.open.goConflict()}
          >
            Next conflict{!app.reviews.open.editing.value && <kbd>c</kbd>}
          </button>
        </p>
      )}
      {others.length > 0 && (
        <p class="notice quiet-notice" data-notice="same-file">
          <span>
            {others.length === 1
              ? "Another proposal changes"
              : `${others.length} more proposals change`}{" "}
            this file, too. After one is accepted, the others are made from an older text.
          </span>
          <button
            type="button"
            class="button small"
            data-act="other-proposal"
            onClick={() => app.reviews.select(others[0]?.id ?? detail.id)}
          >
            Show the other
          </button>
        </p>
      )}
      <LineEndings review={review} />
    </div>
  );
}

/** A change of all line endings has no hunk, so it is told in words. */
function LineEndings({ review: { detail } }: { review: Review }) {
  const before = lineEndingOf(detail.original ?? "");
  const after = lineEndingOf(detail.proposed);
  const names = { lf: "LF (Unix)", crlf: "CRLF (Windows)" } as const;
  if ((before !== "lf" && before !== "crlf") || (after !== "lf" && after !== "crlf")) return null;
  if (before === after) return null;
  return (
    <p class="notice" data-notice="line-endings">
      Every line ending changes from {names[before]} to {names[after]}, also where no line is
      marked.
    </p>
  );
}

function badgesOf(review: Review): [string, string][] {
  const { detail, format } = review;
  const badges: [string, string][] = [];
  if (detail.newFile) badges.push(["new-file", "new file"]);
  if (isDeletion(review)) badges.push(["deletion", "empties the file"]);
  if (detail.terminalOnly !== undefined) badges.push(["terminal-only", "terminal only"]);
  else if (!detail.editable) badges.push(["whole", "all or nothing"]);
  const after = lineEndingOf(detail.proposed);
  if (after === "mixed") badges.push(["mixed", "mixed line endings"]);
  else if (after === "crlf" || format.newline === "\r\n") badges.push(["crlf", "CRLF"]);
  const had = detail.original?.startsWith(BOM) ?? false;
  if (format.bom) badges.push(["bom", "BOM"]);
  else if (had && detail.proposed !== "") badges.push(["bom", "proposed without BOM"]);
  return badges;
}

const LAYOUTS: [Layout, string][] = [
  ["split", "Side by side"],
  ["unified", "One column"],
];

function Layouts({ open, review }: { open: OpenReview; review: Review }) {
  if (!open.canSplit(review)) return null;
  const { layout } = open.opening.value;
  return (
    <fieldset class="choice">
      <legend class="visually-hidden">Layout</legend>
      {LAYOUTS.map(([choice, words]) => (
        <button
          key={choice}
          type="button"
          data-act={`layout-${choice}`}
          aria-pressed={layout === choice}
          onClick={() => open.setLayout(choice)}
        >
          {words}
        </button>
      ))}
    </fieldset>
  );
}

function Diff({ reviews }: { reviews: Reviews }) {
  const container = useRef<HTMLElement>(null);
  const { open } = reviews;
  const opening = open.opening.value;
  useLayoutEffect(() => {
    const review = open.review.peek();
    if (container.current === null || review === undefined) return undefined;
    // After a visit to another view, the review continues at the hunk where it was.
    const current = open.hunks.peek()?.current ?? opening.current;
    const view = new DiffView(container.current, {
      review,
      current,
      layout: opening.layout,
      changed: (review, hunks, isEdit) => reviews.touched(review, hunks, isEdit),
      wantsEditing: (editing) => open.edit(editing),
      wantsToAccept: () => void reviews.accept(),
    });
    open.attach(view);
    view.start(current);
    if (opening.resume !== undefined) {
      open.edit(true);
      // After that, because who begins to edit is put into the hunk.
      view.resume(opening.resume);
      opening.resume = undefined;
    }
    return () => {
      open.attach(undefined);
      view.destroy();
    };
  }, [reviews, open, opening]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element has to be reachable with the keyboard.
    <section class="diff" ref={container} aria-label="Differences" tabIndex={0} />
  );
}
