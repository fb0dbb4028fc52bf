import { effect } from "@preact/signals";
import { describe, expect, it } from "vitest";
import { Transcript } from "../../src/chat/transcript";
import type { Change, ChatEntry } from "../../src/chat/wire";
import { forEachCase, type Random } from "../cases";

const said = (id: number, text: string): ChatEntry => ({
  id,
  kind: "said",
  speaker: "agent",
  text,
});
const put = (id: number, text: string): Change => ({ change: "put", entry: said(id, text) });

/** What is shown, in the order in which it is shown. */
function shown(transcript: Transcript): string {
  const slots = transcript.groups.value.flatMap((group) => group.slots.value);
  return slots
    .map(({ entry: { value } }) => `${value.id}:${value.kind === "said" ? value.text : value.kind}`)
    .join(" ");
}

describe("a transcript", () => {
  const cases: [string, Change[], string][] = [
    ["is empty at first", [], ""],
    ["takes entries", [put(1, "a"), put(2, "b")], "1:a 2:b"],
    ["replaces an entry in its place", [put(1, "a"), put(2, "b"), put(1, "c")], "1:c 2:b"],
    ["lets an entry go on", [put(1, "a"), { change: "append", id: 1, text: "b" }], "1:ab"],
    ["ignores what goes on nowhere", [put(1, "a"), { change: "append", id: 7, text: "b" }], "1:a"],
    ["lets go of the oldest", [put(1, "a"), put(2, "b"), { change: "shorten", first: 2 }], "2:b"],
    ["begins anew", [put(1, "a"), { change: "clear" }, put(9, "z")], "9:z"],
    [
      "leaves alone what only text can do",
      [
        { change: "put", entry: { id: 1, kind: "plan", steps: [] } },
        { change: "append", id: 1, text: "x" },
      ],
      "1:plan",
    ],
  ];
  it.each(cases)("%s", (_name, changes, expected) => {
    const transcript = new Transcript();
    for (const change of changes) transcript.apply(change);
    expect(shown(transcript)).toBe(expected);
  });

  it("shows the same after any changes as from the whole", () => {
    forEachCase(300, (random) => {
      const transcript = new Transcript();
      const whole = new Map<number, ChatEntry>();
      let next = 1;
      for (let step = 0; step < 400; step += 1) next = take(random, transcript, whole, next);
      const other = new Transcript();
      other.replace([...whole.values()], false);
      expect(shown(transcript)).toBe(shown(other));
      expect([...transcript.entries()]).toEqual([...whole.values()]);
    });
  });

  it("tells only the entry that changed", () => {
    const transcript = new Transcript();
    transcript.replace(
      Array.from({ length: 10_000 }, (_, index) => said(index + 1, "x")),
      false,
    );
    let groupsDrawn = 0;
    let entriesDrawn = 0;
    effect(() => {
      for (const group of transcript.groups.value) {
        effect(() => {
          groupsDrawn += 1;
          for (const slot of group.slots.value) {
            effect(() => {
              entriesDrawn += Number(slot.entry.value.id > 0);
            });
          }
        });
      }
    });
    [groupsDrawn, entriesDrawn] = [0, 0];
    transcript.apply({ change: "append", id: 10_000, text: "y" });
    expect([groupsDrawn, entriesDrawn]).toEqual([0, 1]);
  });

  it("says when all of it was replaced", () => {
    const transcript = new Transcript();
    const beginnings = [
      () => transcript.replace([said(7, "a")], true),
      () => transcript.apply({ change: "clear" }),
    ];
    for (const begin of beginnings) {
      const before = transcript.beginning.value;
      transcript.apply(put(1, "a"));
      expect(transcript.beginning.value).toBe(before);
      begin();
      expect(transcript.beginning.value).not.toBe(before);
    }
  });
});

/** One random change, to the transcript and to a plain map; the number of the next entry. */
function take(
  random: Random,
  transcript: Transcript,
  whole: Map<number, ChatEntry>,
  next: number,
): number {
  const ids = [...whole.keys()];
  const some = ids.length > 0 ? random.pick(ids) : next;
  switch (random.below(10)) {
    case 0: {
      transcript.apply({ change: "shorten", first: some });
      for (const id of ids) if (id < some) whole.delete(id);
      return next;
    }
    case 1:
      transcript.apply({ change: "append", id: some, text: "+" });
      if (whole.has(some)) whole.set(some, said(some, `${textOf(whole.get(some))}+`));
      return next;
    case 2:
      transcript.apply(put(some, "r"));
      whole.set(some, said(some, "r"));
      return Math.max(next, some + 1);
    default:
      transcript.apply(put(next, "n"));
      whole.set(next, said(next, "n"));
      return next + 1;
  }
}

function textOf(entry: ChatEntry | undefined): string {
  return entry?.kind === "said" ? entry.text : "";
}
