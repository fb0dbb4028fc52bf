/** The review: the queue, and beside it the selected proposal. */

import { editorBundle } from "../load-editor";
import type { App } from "../state/app";
import { ClosedProposal } from "./closed-proposal";
import { LoadFailed, Loading, NoProposals } from "./placeholders";
import { Queue } from "./queue";

export function ReviewView({ app }: { app: App }) {
  const { reviews, navigation } = app;
  const panel = reviews.panel.value;
  // A proposal opens only after the bundle was loaded.
  const bundle = editorBundle.value;
  if (app.isLoading.value) return <Loading />;
  if (panel.kind === "empty") return <NoProposals app={app} />;

  const back = () => navigation.go({ pane: "queue" });
  const choose = (id: number) => {
    navigation.go({ pane: "proposal" });
    reviews.select(id);
  };
  return (
    // On a phone either the queue or the proposal is on the screen.
    <div class="review" data-pane={navigation.pane.value}>
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
