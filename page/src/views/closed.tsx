/** A proposal that went away while the person was writing in it: their text is kept. */

import type { Why } from "../api/wire";
import type { Panel, Table } from "../state/table";
import { splitPath, visible } from "../text/visible";
import { Copy } from "./copy";

const WHY: Record<Why, string> = {
  accepted: "It was accepted elsewhere, without what you typed last.",
  rejected: "It was rejected elsewhere.",
  withdrawn: "The agent took it back.",
  replaced: "The agent replaced it with a newer one.",
  orphaned: "The agent is gone.",
};

export function Closed({
  table,
  panel,
}: {
  table: Table;
  panel: Extract<Panel, { kind: "closed" }>;
}) {
  const { proposal, why, text } = panel;
  const reason = why === undefined ? "It was decided or taken back meanwhile." : WHY[why];
  return (
    <section class="sheet closed" data-notice="closed">
      <div role="alert">
        <h2>
          <bdi>{splitPath(proposal.path).name}</bdi> is not open any more
        </h2>
        <p>{reason} What you wrote is still here:</p>
      </div>
      <textarea readOnly aria-label="Your text" value={text} />
      <p class="acts">
        <Copy text={text} label="Copy your text" name="copy-text" />
        <button
          type="button"
          class="button small"
          data-act="dismiss"
          onClick={() => table.dismiss()}
          aria-label={`Dismiss the text for ${visible(proposal.path)}`}
        >
          Dismiss
        </button>
      </p>
    </section>
  );
}
