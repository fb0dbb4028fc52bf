/** The review: the queue, and beside it the selected proposal. */

import { useSignal } from "@preact/signals";
import { editorBundle } from "../load-editor";
import type { App } from "../state/app";
import { ClosedProposal } from "./closed-proposal";
import { LoadFailed, Loading, NoProposals } from "./placeholders";
import { Queue } from "./queue";

export function ReviewView({ app }: { app: App }) {
  // On a phone either the queue or the proposal is on the screen.
  const pane = useSignal<"queue" | "proposal">("proposal");
  const { reviews } = app;
  const panel = reviews.panel.value;
  // A proposal opens only after the bundle was loaded.
  const bundle = editorBundle.value;
  if (app.isLoading.value) return <Loading />;
  if (panel.kind === "empty") return <NoProposals app={app} />;

  const back = () => {
    pane.value = "queue";
  };
  const choose = (id: number) => {
    pane.value = "proposal";
    reviews.select(id);
  };
  return (
    <div class="review" data-pane={pane.value}>
      <Queue app={app} choose={choose} />
      {panel.kind === "loading" && <Loading proposal={panel.proposal} />}
      {panel.kind === "failed" && <LoadFailed reviews={reviews} panel={panel} />}
      {panel.kind === "closed" && <ClosedProposal reviews={reviews} panel={panel} />}
      {panel.kind === "open" && typeof bundle === "object" && (
        <bundle.ProposalView app={app} panel={panel} back={back} />
      )}
    </div>
  );
}
