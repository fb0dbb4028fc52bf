import { describe, expect, it } from "vitest";
import type { Proposal } from "../src/api/wire";
import { agentsOf, choiceOf } from "../src/review/several";

const proposal = (id: number, session: string, more: Partial<Proposal> = {}): Proposal => ({
  id,
  path: `/p/${id}`,
  agent: "qwen",
  who: "Qwen Code",
  session,
  openedAt: 0,
  newFile: false,
  hunks: 1,
  revision: 1,
  conflicts: 0,
  editable: true,
  added: 2,
  removed: 1,
  ...more,
});

const all = [
  proposal(1, "a", { who: "Qwen Code · pts/3" }),
  proposal(2, "b", { stale: "the file has changed" }),
  proposal(3, "a", { who: "Qwen Code · pts/3", conflicts: 1, stale: "the file has changed" }),
  proposal(5, "b", { terminalOnly: "too large" }),
  proposal(6, "b", { conflicts: 0 }),
  proposal(7, "c", { editable: false, withheld: "it is a secret" }),
];

const ids = (list: readonly Proposal[]) => list.map(({ id }) => id);

describe("several proposals", () => {
  it("are accepted together only if each needs no second look", () => {
    const { proposals, acceptable, left, added, removed } = choiceOf(all, undefined);
    expect(ids(proposals)).toEqual([1, 2, 3, 5, 6, 7]);
    expect(ids(acceptable)).toEqual([1, 6]);
    expect(left.map(({ proposal, why }) => `${proposal.id} ${why}`)).toEqual([
      "2 stale: the file has changed",
      "3 it has conflicts",
      "5 only the terminal can accept it",
      "7 it is a secret",
    ]);
    expect([added, removed]).toEqual([12, 6]);
  });

  it("can be those of one agent", () => {
    expect(agentsOf(all)).toEqual([
      { session: "a", who: "Qwen Code · pts/3" },
      { session: "b", who: "Qwen Code" },
      { session: "c", who: "Qwen Code" },
    ]);
    expect(ids(choiceOf(all, "b").proposals)).toEqual([2, 5, 6]);
    expect(ids(choiceOf(all, "b").acceptable)).toEqual([6]);
  });
});
