/** A proposal that was closed while the person was editing it, and the text that was kept. */

import type { Panel, Reviews } from "../state/reviews";
import { CLOSED_HOW } from "../text/log-entry";
import { splitPath, visible } from "../text/visible";
import { CopyButton } from "./copy-button";

export function ClosedProposal({
  reviews,
  panel,
}: {
  reviews: Reviews;
  panel: Extract<Panel, { kind: "closed" }>;
}) {
  const { proposal, why, text } = panel;
  const name = <bdi>{splitPath(proposal.path).name}</bdi>;
  return (
    <section class="proposal closed-proposal" data-notice="closed">
      <div role="alert">
        {why === "revised" ? (
          <>
            <h2>{name} was changed in the same lines</h2>
            <p>
              It is still pending, without your last edits. Copy what you need from here, and edit
              it again:
            </p>
          </>
        ) : (
          <>
            <h2>{name} is not pending any more</h2>
            <p>
              It was {why === undefined ? "closed meanwhile" : CLOSED_HOW[why]}
              {why === "accepted" && ", without your last edits"}. What you wrote is still here:
            </p>
          </>
        )}
      </div>
      <textarea readOnly aria-label="Your text" value={text} />
      <p class="actions">
        <CopyButton text={text} label="Copy your text" name="copy-text" />
        <button
          type="button"
          class="button small"
          data-act="dismiss"
          onClick={() => reviews.dismissKept()}
          aria-label={`Dismiss the text for ${visible(proposal.path)}`}
        >
          Dismiss
        </button>
      </p>
    </section>
  );
}
