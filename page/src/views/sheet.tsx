/** One proposal: what it is, its diff, and the decision. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { DiffView, type Layout } from "../diff/view";
import { BOM, endingOf } from "../review/notation";
import { isDeletion, isEditable, type Sheet } from "../review/sheet";
import type { App } from "../state/app";
import type { Opening, Panel, Table } from "../state/table";
import { count } from "../text/format";
import { below, splitPath, visible } from "../text/visible";

type OpenPanel = Extract<Panel, { kind: "open" }>;

export function SheetView({ app, panel, back }: { app: App; panel: OpenPanel; back: () => void }) {
  const { table } = app;
  const { proposal, opening } = panel;
  const sheet = table.sheet.value;
  if (sheet === undefined) return null;
  const closedToUs = proposal.terminal_only;
  return (
    <section
      class="sheet"
      aria-label="Proposal"
      data-detail={proposal.id}
      data-ready={closedToUs === undefined ? table.hunks.value !== undefined : true}
      data-editing={table.editing.value}
      data-layout={opening.layout}
      data-changed={table.isChanged.value}
    >
      <Head app={app} panel={panel} sheet={sheet} back={back} />
      {closedToUs === undefined ? (
        <Diff table={table} opening={opening} />
      ) : (
        <div class="nothing" data-notice="terminal-only">
          <h3>Only the terminal can accept this</h3>
          <p>{visible(closedToUs)}</p>
          <p>Answer at {visible(proposal.agent)}’s own prompt, or reject it here.</p>
        </div>
      )}
      <Foot table={table} sheet={sheet} />
    </section>
  );
}

function Head({
  app,
  panel,
  sheet,
  back,
}: {
  app: App;
  panel: OpenPanel;
  sheet: Sheet;
  back: () => void;
}) {
  const { proposal } = panel;
  const { folder, name } = splitPath(below(proposal.path, app.roots.value));
  return (
    <div class="sheet-head">
      <button type="button" class="button plain back" data-act="back" onClick={back}>
        ‹ Queue
      </button>
      <h2 class="path" title={visible(proposal.path)}>
        <bdi class="path-folder">{folder}</bdi>
        <bdi>{name}</bdi>
      </h2>
      <ul class="badges" aria-label="About this proposal">
        <li class="badge agent">{visible(proposal.agent)}</li>
        {badgesOf(sheet).map(([kind, words]) => (
          <li key={kind} class="badge" data-badge={kind}>
            {words}
          </li>
        ))}
      </ul>
      <span class="grow" />
      <Layouts table={app.table} sheet={sheet} layout={panel.opening.layout} />
    </div>
  );
}

function badgesOf(sheet: Sheet): [string, string][] {
  const { detail, notation } = sheet;
  const badges: [string, string][] = [];
  if (detail.new_file) badges.push(["new-file", "new file"]);
  if (isDeletion(sheet)) badges.push(["deletion", "empties the file"]);
  if (detail.terminal_only !== undefined) badges.push(["terminal-only", "terminal only"]);
  else if (!detail.editable) badges.push(["whole", "all or nothing"]);
  const before = endingOf(detail.original ?? "");
  const after = endingOf(detail.proposed);
  if (after === "mixed") badges.push(["mixed", "mixed line ends"]);
  else if (before === "crlf" && after === "lf") badges.push(["crlf", "CRLF, proposed with LF"]);
  else if (before === "lf" && after === "crlf") badges.push(["crlf", "LF, proposed with CRLF"]);
  else if (after === "crlf" || notation.newline === "\r\n") badges.push(["crlf", "CRLF"]);
  const had = detail.original?.startsWith(BOM) ?? false;
  if (notation.bom) badges.push(["bom", "BOM"]);
  else if (had && detail.proposed !== "") badges.push(["bom", "proposed without BOM"]);
  return badges;
}

const LAYOUTS: [Layout, string][] = [
  ["split", "Side by side"],
  ["unified", "One column"],
];

function Layouts({ table, sheet, layout }: { table: Table; sheet: Sheet; layout: Layout }) {
  if (!table.canSplit(sheet)) return null;
  return (
    <fieldset class="choice">
      <legend class="unheard">Layout</legend>
      {LAYOUTS.map(([choice, words]) => (
        <button
          key={choice}
          type="button"
          data-act={`layout-${choice}`}
          aria-pressed={layout === choice}
          onClick={() => table.setLayout(choice)}
        >
          {words}
        </button>
      ))}
    </fieldset>
  );
}

function Diff({ table, opening }: { table: Table; opening: Opening }) {
  const place = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const sheet = table.sheet.peek();
    if (place.current === null || sheet === undefined) return undefined;
    // Whoever comes back from another view finds everything as they left it.
    const current = table.hunks.peek()?.current ?? opening.current;
    const view = new DiffView(place.current, {
      sheet,
      current,
      layout: opening.layout,
      changed: (sheet, hunks, typed) => table.touched(sheet, hunks, typed),
      wantsEditing: (editing) => table.edit(editing),
    });
    table.attach(view);
    if (current > 0) view.show(current);
    return () => {
      table.attach(undefined);
      view.destroy();
    };
  }, [table, opening]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by key.
    <section class="diff" ref={place} aria-label="Differences" tabIndex={0} />
  );
}

function Foot({ table, sheet }: { table: Table; sheet: Sheet }) {
  const editing = table.editing.value;
  const locked = sheet.detail.terminal_only !== undefined;
  const busy = table.deciding.value;
  return (
    <div class="sheet-foot">
      {table.refusal.value !== undefined && (
        <p class="refusal" role="alert" data-notice="refused">
          Not accepted: {visible(table.refusal.value)}
        </p>
      )}
      <Position table={table} />
      {!locked && !sheet.detail.editable && (
        <span class="quiet" data-notice="whole">
          {visible(sheet.detail.agent)} takes its own text or nothing: it cannot be edited.
        </span>
      )}
      <span class="grow" />
      <div class="acts">
        <button
          type="button"
          class="button"
          data-act={editing ? "done" : "edit"}
          disabled={!isEditable(sheet)}
          onClick={() => table.edit(!editing)}
        >
          {editing ? "Done" : "Edit"}
          <kbd>{editing ? "Esc" : "e"}</kbd>
        </button>
        <button
          type="button"
          class="button reject"
          data-act="reject"
          disabled={busy}
          onClick={() => void table.reject()}
        >
          Reject<kbd>r</kbd>
        </button>
        <button
          type="button"
          class="button accept"
          data-act="accept"
          disabled={busy || locked}
          onClick={() => void table.accept()}
        >
          {acceptWords(table)}
          <kbd>a</kbd>
        </button>
      </div>
    </div>
  );
}

/** What accepting means right now. */
function acceptWords(table: Table): string {
  const states = table.hunks.value?.states ?? [];
  const kept = states.filter((state) => state === "kept").length;
  const dropped = states.filter((state) => state === "dropped").length;
  if (!table.isChanged.value) return "Accept";
  return kept + dropped === states.length && dropped > 0
    ? `Accept ${kept} of ${states.length}`
    : "Accept edited";
}

function Position({ table }: { table: Table }) {
  const hunks = table.hunks.value;
  if (hunks === undefined) return <span class="position" />;
  const total = hunks.pieces.length;
  const dropped = hunks.states.filter((state) => state === "dropped").length;
  return (
    <div class="position">
      <button
        type="button"
        class="button plain"
        data-act="previous-hunk"
        aria-label="Previous hunk"
        onClick={() => table.goHunk(-1)}
      >
        ↑
      </button>
      <button
        type="button"
        class="button plain"
        data-act="next-hunk"
        aria-label="Next hunk"
        onClick={() => table.goHunk(1)}
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
