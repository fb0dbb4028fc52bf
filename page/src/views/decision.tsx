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
  const wasMeant = useAim(actions);
  const decide = (decision: () => Promise<void>) => (event: MouseEvent) => {
    if (wasMeant(event)) void decision();
    else app.announce("The button has just moved. Click again");
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
          Reject
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
 * Whether a click was meant for its button: not if the button has just moved under the
 * pointer, where something else was before.
 */
function useAim(actions: { current: HTMLElement | null }): (click: MouseEvent) => boolean {
  const moved = useRef({ at: 0, before: new Map<Element, DOMRect>() });
  const now = useRef(new Map<Element, DOMRect>());
  useLayoutEffect(() => {
    const buttons = [...(actions.current?.querySelectorAll("[data-decides]") ?? [])];
    const places = new Map(buttons.map((button) => [button, button.getBoundingClientRect()]));
    const isMoved = buttons.some((button) => {
      const [before, after] = [now.current.get(button), places.get(button)];
      return before && after && (before.left !== after.left || before.top !== after.top);
    });
    if (isMoved) moved.current = { at: Date.now(), before: now.current };
    now.current = places;
  });
  return ({ detail, clientX, clientY, currentTarget }) => {
    // The click of a key means the button that has the focus.
    if (detail === 0 || Date.now() - moved.current.at >= SETTLE) return true;
    const before = moved.current.before.get(currentTarget as Element);
    if (before === undefined) return true;
    const { left, right, top, bottom } = before;
    return left <= clientX && clientX <= right && top <= clientY && clientY <= bottom;
  };
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
