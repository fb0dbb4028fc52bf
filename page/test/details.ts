import type { Detail } from "../src/api/wire";
import { changedLines } from "../src/review/line-diff";

/** What the companion would answer, its hunks included. */
export function detailOf(original: string | undefined, proposed: string, current?: string): Detail {
  const hunks = (text: string) =>
    changedLines(plain(original ?? ""), plain(text)).map(({ a, b }, index) => {
      const [originalStart, originalEnd] = lines(plain(original ?? ""), a.from, a.to);
      const [proposedStart, proposedEnd] = lines(plain(text), b.from, b.to);
      return { number: index + 1, originalStart, originalEnd, proposedStart, proposedEnd };
    });
  return {
    id: 1,
    path: "/p/a.txt",
    agent: "qwen",
    who: "Qwen Code",
    session: "s",
    openedAt: 0,
    newFile: original === undefined,
    hunks: hunks(proposed).length,
    added: 1,
    removed: 1,
    revision: 1,
    conflicts: 0,
    editable: true,
    ...(original !== undefined && { original }),
    proposed,
    hunksAt: hunks(proposed),
    ...(current !== undefined && { current, currentHunksAt: hunks(current) }),
  };
}

/** Without what the companion ignores. */
const plain = (text: string) => text.replace("\ufeff", "").replaceAll("\r\n", "\n");

const lines = (text: string, from: number, to: number): [number, number] => [
  text.slice(0, from).split("\n").length - 1,
  text.slice(0, to).split("\n").length - (text.slice(0, to).endsWith("\n") || to === 0 ? 1 : 0),
];
