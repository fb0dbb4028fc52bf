/** The review: the queue beside the proposal that is on the table. */

import { useSignal } from "@preact/signals";
import { editor } from "../later";
import type { App } from "../state/app";
import { Closed } from "./closed";
import { Failed, Loading, Nothing } from "./nothing";
import { Queue } from "./queue";

export function ReviewView({ app }: { app: App }) {
  // On a phone either the queue or the proposal is on the screen.
  const pane = useSignal<"queue" | "sheet">("sheet");
  const { table } = app;
  const panel = table.panel.value;
  // What opens a proposal has waited for it.
  const fetched = editor.value;
  if (app.isEmpty.value) return <Loading />;
  if (panel.kind === "empty") return <Nothing app={app} />;

  const back = () => {
    pane.value = "queue";
  };
  const choose = (id: number) => {
    pane.value = "sheet";
    table.select(id);
  };
  return (
    <div class="review" data-pane={pane.value}>
      <Queue app={app} choose={choose} />
      {panel.kind === "loading" && <Loading proposal={panel.proposal} />}
      {panel.kind === "failed" && <Failed table={table} panel={panel} />}
      {panel.kind === "closed" && <Closed table={table} panel={panel} />}
      {panel.kind === "open" && typeof fetched === "object" && (
        <fetched.SheetView app={app} panel={panel} back={back} />
      )}
    </div>
  );
}
