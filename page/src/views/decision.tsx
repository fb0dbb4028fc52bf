/** The end of a proposal: the position in it, what keeps it from being accepted, and the decision. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { isEditable, type Review } from "../review/review";
import type { App } from "../state/app";
import type { OpenReview } from "../state/open-review";
import type { Reviews } from "../state/reviews";
import { SETTLE } from "../state/settling";
import { count } from "../text/format";
import { visible } from "../text/visible";

export function Decision({ app, review }: { app: App; review: Review }) {
  const { reviews } = app;
  const { open } = reviews;
  const { detail } = review;
  const editing = open.editing.value;
  const isStopped = app.connection.value === "stopped";
  const obstacle = reviews.obstacle.value;
  const busy = reviews.deciding.value || isStopped;
  const actions = useRef<HTMLDivElement>(null);
  const isStill = useStillness(actions);
  const decide = (decision: () => Promise<void>) => (event: MouseEvent) => {
    // A click of a key, which has no position, means the button that has the focus.
    if (event.detail === 0 || isStill()) void decision();
  };
  return (
    <div class="proposal-foot">
      {reviews.refusal.value !== undefined && (
        <p class="refusal" role="alert" data-notice="refused">
          {reviews.refusal.value}
        </p>
      )}
      {detail.terminalOnly === undefined && !detail.editable && (
        <span class="quiet" data-notice="whole">
          {visible(detail.agent)} accepts its own text only: this proposal cannot be edited.
        </span>
      )}
      {obstacle !== undefined && obstacle.kind !== "terminal-only" && (
        <span class="obstacle" id="obstacle" data-obstacle={obstacle.kind}>
          {obstacle.words}.
        </span>
      )}
      <Position reviews={reviews} />
      <span class="grow" />
      <div class="actions" ref={actions} data-settling={!reviews.isSettled.value}>
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
          data-decides
          disabled={busy}
          onClick={decide(() => reviews.reject())}
        >
          {detail.gone ? "Dismiss" : "Reject"}
          {!editing && <kbd>r</kbd>}
        </button>
        <button
          type="button"
          class="button accept"
          data-act="accept"
          data-decides
          disabled={busy || obstacle !== undefined}
          aria-describedby={obstacle === undefined ? undefined : "obstacle"}
          title={obstacle?.words}
          onClick={decide(() => reviews.accept())}
        >
          {acceptLabel(open)}
          <kbd>{editing ? "Ctrl+Enter" : "a"}</kbd>
        </button>
      </div>
    </div>
  );
}

/**
 * Whether the buttons have been where they are for a moment. A click on one that has just
 * moved under the pointer was meant for another.
 */
function useStillness(actions: { current: HTMLElement | null }): () => boolean {
  const places = useRef({ last: "", since: 0 });
  useLayoutEffect(() => {
    const buttons = actions.current?.querySelectorAll("[data-decides]") ?? [];
    const now = [...buttons].map((button) => {
      const { left, top, width } = button.getBoundingClientRect();
      return [left, top, width].map(Math.round).join();
    });
    const place = now.join(";");
    const { last } = places.current;
    // What is drawn for the first time has not moved.
    if (place !== last) places.current = { last: place, since: last === "" ? 0 : Date.now() };
  });
  return () => Date.now() - places.current.since >= SETTLE;
}

/** What accepting would do now. */
function acceptLabel(open: OpenReview): string {
  const states = open.hunks.value?.states ?? [];
  const kept = states.filter((state) => state === "kept").length;
  const dropped = states.filter((state) => state === "dropped").length;
  const differences = open.review.value?.differences.length ?? 0;
  if (!open.isChanged.value || differences === 0) return "Accept";
  // More differences than hunks that are kept: the person has changed other lines, too.
  return kept + dropped === states.length && differences <= kept
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
      {reviews.open.canUndo.value && (
        <button
          type="button"
          class="button small"
          data-act="undo"
          onClick={() => reviews.open.undo()}
        >
          Undo{!reviews.open.editing.value && <kbd>u</kbd>}
        </button>
      )}
      <span>
        {total === 0 ? "no change" : `${hunks.current + 1} of ${count(total, "hunk")}`}
        {dropped > 0 && `, ${dropped} dropped`}
      </span>
    </div>
  );
}
