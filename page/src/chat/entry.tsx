/** One entry of a conversation. */

import { useComputed } from "@preact/signals";
import { visible, visibleLines } from "../text/visible";
import { AttachmentView } from "./attachment-view";
import type { Chat } from "./chat";
import { LazyDetails } from "./lazy-details";
import { Markdown } from "./markdown/view";
import { ToolCallView } from "./tool-call";
import type { Slot } from "./transcript";
import { textOfUnknown } from "./unknown";
import type { ChatEntry, Speaker, Step, Tool, TurnEnding } from "./wire";

/** Reads the signal of its own entry, so that a change draws only this entry again. */
export function EntryView({ slot, chat }: { slot: Slot; chat: Chat }) {
  const entry = slot.entry.value;
  switch (entry.kind) {
    case "said":
      return <Said entry={entry} />;
    case "attached":
      return (
        <article
          class="entry"
          data-entry={entry.id}
          data-kind="attached"
          data-speaker={entry.speaker}
        >
          <SpeakerName speaker={entry.speaker} />
          <AttachmentView attached={entry} />
        </article>
      );
    case "tool":
      return <ToolEntry id={entry.id} tool={entry.tool} chat={chat} />;
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
          {visibleLines(entry.text)}
        </p>
      );
    default:
      return <Unknown entry={entry} />;
  }
}

function Unknown({ entry }: { entry: { id: number; kind: string } }) {
  return (
    <p class="line" data-entry={entry.id} data-kind="unknown">
      {textOfUnknown(entry.kind, entry)}
    </p>
  );
}

function ToolEntry({ id, tool, chat }: { id: number; tool: Tool; chat: Chat }) {
  const waiting = useComputed(() => chat.askedTools.value.has(tool.id)).value;
  return (
    <article class="entry tool" data-entry={id} data-kind="tool" data-tool-status={tool.status}>
      <ToolCallView tool={tool} waiting={waiting} />
    </article>
  );
}

const WHO: Record<Speaker, string> = {
  me: "You",
  other: "You, elsewhere",
  agent: "Agent",
  thought: "Thought",
  task: "Background task",
};

/** The speakers that are told apart by where and how their words stand. */
const SEEN = new Set<Speaker>(["me", "agent"]);

function SpeakerName({ speaker }: { speaker: Speaker }) {
  return (
    <h3 class={SEEN.has(speaker) ? "visually-hidden" : "speaker"}>
      {Object.hasOwn(WHO, speaker) ? WHO[speaker] : visible(speaker)}
    </h3>
  );
}

function Said({ entry }: { entry: Extract<ChatEntry, { kind: "said" }> }) {
  const { id, speaker, text } = entry;
  return (
    <article class="entry" data-entry={id} data-kind="said" data-speaker={speaker}>
      {speaker === "thought" ? (
        <LazyDetails summary="Thought" open={false}>
          <Markdown text={text} />
        </LazyDetails>
      ) : (
        <>
          <SpeakerName speaker={speaker} />
          {speaker === "agent" ? (
            <Markdown text={text} />
          ) : (
            <p class="typed">{visibleLines(text.trim())}</p>
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
          <span class="visually-hidden">{STEPS[status] ?? visible(status)}: </span>
          {visible(text)}
        </li>
      ))}
    </ol>
  );
}

const ENDINGS: Record<TurnEnding, string> = {
  complete: "Finished",
  cancelled: "Stopped",
  failed: "Failed",
  unknown: "Ended in an unknown way",
};

function endingOf({
  how,
  why,
  background,
}: {
  how: TurnEnding;
  why?: string;
  background: boolean;
}): string {
  const what = background ? `Background work: ${ENDINGS[how].toLowerCase()}` : ENDINGS[how];
  return why === undefined ? what : `${what}: ${visibleLines(why)}`;
}
