/** One proposal: its path and properties, its diff, and the decision. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Proposal } from "../api/wire";
import { DiffView, type Layout } from "../diff/view";
import { BOM, lineEndingOf } from "../review/file-format";
import { isDeletion, isEditable, type Review } from "../review/review";
import type { App } from "../state/app";
import type { OpenReview } from "../state/open-review";
import type { Panel, Reviews } from "../state/reviews";
import { count } from "../text/format";
import { relativePath, splitPath, visible } from "../text/visible";

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
    >
      <Head app={app} proposal={proposal} review={review} back={back} />
      {terminalOnly === undefined ? (
        <Diff reviews={reviews} />
      ) : (
        <div class="placeholder" data-notice="terminal-only">
          <h3>Only the terminal can accept this</h3>
          <p>{visible(terminalOnly)}</p>
          <p>Answer at {visible(proposal.agent)}’s own prompt, or reject it here.</p>
        </div>
      )}
      <Foot reviews={reviews} review={review} />
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
        <li class="badge agent">{visible(proposal.agent)}</li>
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

function badgesOf(review: Review): [string, string][] {
  const { detail, format } = review;
  const badges: [string, string][] = [];
  if (detail.newFile) badges.push(["new-file", "new file"]);
  if (isDeletion(review)) badges.push(["deletion", "empties the file"]);
  if (detail.terminalOnly !== undefined) badges.push(["terminal-only", "terminal only"]);
  else if (!detail.editable) badges.push(["whole", "all or nothing"]);
  const before = lineEndingOf(detail.original ?? "");
  const after = lineEndingOf(detail.proposed);
  if (after === "mixed") badges.push(["mixed", "mixed line endings"]);
  else if (before === "crlf" && after === "lf") badges.push(["crlf", "CRLF, proposed with LF"]);
  else if (before === "lf" && after === "crlf") badges.push(["crlf", "LF, proposed with CRLF"]);
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
    });
    open.attach(view);
    if (current > 0) view.show(current);
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

function Foot({ reviews, review }: { reviews: Reviews; review: Review }) {
  const { open } = reviews;
  const editing = open.editing.value;
  const locked = review.detail.terminalOnly !== undefined;
  const busy = reviews.deciding.value;
  return (
    <div class="proposal-foot">
      {reviews.refusal.value !== undefined && (
        <p class="refusal" role="alert" data-notice="refused">
          Not accepted: {visible(reviews.refusal.value)}
        </p>
      )}
      <Position reviews={reviews} />
      {!locked && !review.detail.editable && (
        <span class="quiet" data-notice="whole">
          {visible(review.detail.agent)} accepts its own text only: this proposal cannot be edited.
        </span>
      )}
      <span class="grow" />
      <div class="actions">
        <button
          type="button"
          class="button"
          data-act={editing ? "done" : "edit"}
          disabled={!isEditable(review)}
          onClick={() => open.edit(!editing)}
        >
          {editing ? "Done" : "Edit"}
          <kbd>{editing ? "Esc" : "e"}</kbd>
        </button>
        <button
          type="button"
          class="button reject"
          data-act="reject"
          disabled={busy}
          onClick={() => void reviews.reject()}
        >
          Reject<kbd>r</kbd>
        </button>
        <button
          type="button"
          class="button accept"
          data-act="accept"
          disabled={busy || locked}
          onClick={() => void reviews.accept()}
        >
          {acceptLabel(open)}
          <kbd>a</kbd>
        </button>
      </div>
    </div>
  );
}

/** What accepting would do now. */
function acceptLabel(open: OpenReview): string {
  const states = open.hunks.value?.states ?? [];
  const kept = states.filter((state) => state === "kept").length;
  const dropped = states.filter((state) => state === "dropped").length;
  if (!open.isChanged.value) return "Accept";
  return kept + dropped === states.length && dropped > 0
    ? `Accept ${kept} of ${states.length}`
    : "Accept edited";
}

function Position({ reviews }: { reviews: Reviews }) {
  const hunks = reviews.open.hunks.value;
  if (hunks === undefined) return <span class="position" />;
  const total = hunks.list.length;
  const dropped = hunks.states.filter((state) => state === "dropped").length;
  return (
    <div class="position">
      <button
        type="button"
        class="button plain"
        data-act="previous-hunk"
        aria-label="Previous hunk"
        onClick={() => reviews.goHunk(-1)}
      >
        ↑
      </button>
      <button
        type="button"
        class="button plain"
        data-act="next-hunk"
        aria-label="Next hunk"
        onClick={() => reviews.goHunk(1)}
      >
        ↓
      </button>
      <span>
        {total === 0 ? "no change" : `${hunks.current + 1} of ${count(total, "hunk")}`}
        {dropped > 0 && `, ${dropped} dropped`}
      </span>
    </div>
  );
}
