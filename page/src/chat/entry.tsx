/** One entry of a conversation. */

import { legible, visible } from "../text/visible";
import { Folded } from "./folded";
import { Markdown } from "./markdown/view";
import { ToolView } from "./tool";
import type { Slot } from "./transcript";
import type { Ending, Entry, Speaker, Step } from "./wire";

/** Is drawn again only when its own entry is another one. */
export function EntryView({ slot }: { slot: Slot }) {
  const entry = slot.entry.value;
  switch (entry.kind) {
    case "said":
      return <Said entry={entry} />;
    case "tool":
      return (
        <article
          class="entry tool"
          data-entry={entry.id}
          data-kind="tool"
          data-tool-status={entry.tool.status}
        >
          <ToolView tool={entry.tool} />
        </article>
      );
    case "plan":
      return (
        <article class="entry plan" data-entry={entry.id} data-kind="plan">
          <h3>Plan</h3>
          <Plan steps={entry.steps} />
        </article>
      );
    case "ended":
      return (
        <p class="line" data-entry={entry.id} data-kind="ended" data-how={entry.how}>
          {endingOf(entry)}
        </p>
      );
    case "note":
      return (
        <p class="line" data-entry={entry.id} data-kind="note">
          {legible(entry.text)}
        </p>
      );
  }
}

const WHO: Record<Speaker, string> = {
  me: "You",
  other: "You, elsewhere",
  agent: "Agent",
  thought: "Thought",
};

function Said({ entry }: { entry: Extract<Entry, { kind: "said" }> }) {
  const { id, speaker, text } = entry;
  return (
    <article class="entry" data-entry={id} data-kind="said" data-speaker={speaker}>
      {speaker === "thought" ? (
        <Folded summary="Thought" open={false}>
          <Markdown text={text} />
        </Folded>
      ) : (
        <>
          <h3 class={speaker === "other" ? "speaker" : "unheard"}>{WHO[speaker]}</h3>
          {speaker === "agent" ? (
            <Markdown text={text} />
          ) : (
            <p class="typed">{legible(text.trim())}</p>
          )}
        </>
      )}
    </article>
  );
}

const STEPS: Record<string, string> = {
  completed: "done",
  in_progress: "under way",
  pending: "to do",
};

function Plan({ steps }: { steps: readonly Step[] }) {
  return (
    <ol class="steps">
      {steps.map(({ text, status = "pending" }, index) => (
        <li key={index} data-step={status}>
          <span class="unheard">{STEPS[status] ?? visible(status)}: </span>
          {visible(text)}
        </li>
      ))}
    </ol>
  );
}

const ENDINGS: Record<Ending, string> = {
  complete: "Finished",
  cancelled: "Stopped",
  failed: "Failed",
  unknown: "How it ended is not known",
};

function endingOf({
  how,
  why,
  background,
}: {
  how: Ending;
  why?: string;
  background: boolean;
}): string {
  const what = background ? `Background work: ${ENDINGS[how].toLowerCase()}` : ENDINGS[how];
  return why === undefined ? what : `${what}: ${legible(why)}`;
}
