import { Text } from "@codemirror/state";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, type Client } from "../src/api/client";
import type { Decided, Detail, Drafted, Proposal } from "../src/api/wire";
import type { Hunks } from "../src/diff/hunk-field";
import { toDocument } from "../src/review/file-format";
import { reviewOf } from "../src/review/from-proposal";
import { rebased } from "../src/review/rebase";
import { type Review, textOf } from "../src/review/review";
import { Reviews } from "../src/state/reviews";
import { detailOf } from "./details";

vi.hoisted(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
});

/** The rest of the bundle needs a browser. */
vi.mock("../src/load-editor", () => ({ loadEditor: async () => ({ reviewOf, rebased }) }));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ORIGINAL = "one\ntwo\nthree\nfour\nfive\n";
const PROPOSED = "one\ntwo\nTHREE\nfour\nfive\n";
const TYPED = "typed one\ntwo\nTHREE\nfour\nfive\n";
/** As after a change of the file that leaves the first line alone. */
const REVISED = "one\ntwo\nTHREE\nfour\nFIVE\n";
const TYPED_REVISED = "typed one\ntwo\nTHREE\nfour\nFIVE\n";

const time = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A companion with the proposals 1 and 2, and a tab in which the first one is open. */
class Scene {
  readonly details = new Map<number, Detail>();
  readonly sent: { id: number; text: string; revision: number }[] = [];
  readonly accepted: { id: number; text: string | undefined; revision: number }[] = [];
  readonly announced: string[] = [];
  /** What the next requests for details wait for. */
  gates: Promise<void>[] = [];
  failure: ApiError | undefined;
  /** What happens before a decision is answered. */
  beforeAnswer: (id: number) => void = () => undefined;
  readonly reviews: Reviews;

  private constructor() {
    for (const id of [1, 2]) this.propose(id);
    const decide = async (id: number, revision?: number): Promise<Decided> => {
      this.beforeAnswer(id);
      const now = this.details.get(id);
      if (now === undefined) throw new ApiError(404, "not_found", "");
      if (revision !== undefined && revision !== now.revision) {
        throw new ApiError(409, "stale", "it has changed");
      }
      this.details.delete(id);
      return { agent: "qwen", streaming: true };
    };
    const client: Partial<Client> = {
      detail: async (id: number) => {
        const answer = this.details.get(id);
        const { failure } = this;
        await this.gates.shift();
        if (failure !== undefined) throw failure;
        if (answer === undefined) throw new ApiError(404, "not_found", "");
        return answer;
      },
      draft: async (id: number, text: string, revision: number): Promise<Drafted> => {
        this.sent.push({ id, text, revision });
        this.details.set(id, { ...this.detail(id), current: text });
        return { hunksAt: [] };
      },
      accept: (id, text, revision) => {
        this.accepted.push({ id, text, revision });
        return decide(id, revision);
      },
      acceptAsItStands: (id, revision) => {
        this.accepted.push({ id, text: undefined, revision });
        return decide(id, revision);
      },
      reject: (id) => decide(id),
    };
    this.reviews = new Reviews(client as Client, (sentence) => this.announced.push(sentence));
  }

  static async set(): Promise<Scene> {
    const scene = new Scene();
    scene.reviews.refresh(scene.proposals, false);
    await time(0);
    return scene;
  }

  get proposals(): Proposal[] {
    return [...this.details.values()];
  }

  get shown(): string | undefined {
    const review = this.reviews.open.review.value;
    return review && textOf(review);
  }

  get keptTexts(): string[] {
    return this.reviews.kept.all.value.map(({ text }) => text);
  }

  detail(id: number): Detail {
    return this.details.get(id) as Detail;
  }

  propose(id: number, proposed = PROPOSED, more: Partial<Detail> = {}): void {
    this.details.set(id, { ...detailOf(ORIGINAL, proposed), id, path: `/p/${id}.txt`, ...more });
  }

  async select(id: number): Promise<void> {
    this.reviews.select(id);
    await time(0);
  }

  /** Types a text in the place of the open one. */
  type(text: string): void {
    const review = this.reviews.open.review.value as Review;
    const result = Text.of(toDocument(text, review.format).split("\n"));
    this.reviews.touched({ ...review, result }, {} as Hunks, true);
  }

  /** The file of a proposal has changed. */
  revise(id: number, proposed = REVISED, current?: string): void {
    const revision = this.detail(id).revision + 1;
    const rest = { revision, ...(current !== undefined && { current }) };
    this.propose(id, proposed, rest);
    this.reviews.revised(this.detail(id));
  }

  /** Another companion has the same proposals, but no drafts. */
  async restart(): Promise<void> {
    for (const [id, { proposed }] of this.details) this.propose(id, proposed);
    this.reviews.refresh(this.proposals, true);
    await time(3_000);
  }

  closed(id: number, why: "accepted" | "rejected"): void {
    this.details.delete(id);
    this.reviews.closed(id, why);
  }
}

describe("what was typed", () => {
  it("is brought into a new companion, shown or not", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    await time(1_000);
    await scene.select(2);
    scene.type("two\n");
    await time(1_000);
    await scene.restart();
    expect(scene.shown).toBe("two\n");
    expect(scene.detail(1).current).toBe(TYPED);
    expect(scene.detail(2).current).toBe("two\n");
    await scene.select(1);
    expect(scene.shown).toBe(TYPED);
    expect(scene.keptTexts).toEqual([]);
  });

  it("is brought back also if it was read from the companion", async () => {
    const scene = await Scene.set();
    await scene.select(2);
    scene.propose(1, PROPOSED, { current: TYPED });
    await scene.select(1);
    await scene.restart();
    expect([scene.shown, scene.detail(1).current]).toEqual([TYPED, TYPED]);
  });

  it("is brought into a new companion that has it from another tab already", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    await time(1_000);
    scene.propose(1, PROPOSED, { current: TYPED });
    scene.reviews.refresh(scene.proposals, true);
    await time(3_000);
    expect([scene.shown, scene.keptTexts]).toEqual([TYPED, []]);
  });

  it("is kept if the new companion has another proposal of that number", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    await time(1_000);
    scene.propose(1, "other\n", { path: "/p/other.txt", session: "t" });
    scene.reviews.refresh(scene.proposals, true);
    await time(3_000);
    expect(scene.keptTexts).toEqual([TYPED]);
    expect(scene.detail(1).current).toBeUndefined();
  });

  it("makes way for what a new companion has, if nothing is the same", async () => {
    const scene = await Scene.set();
    await scene.select(2);
    for (const id of [1, 2]) scene.propose(id, "other\n", { path: `/p/other-${id}.txt` });
    scene.reviews.refresh(scene.proposals, true);
    await time(1_000);
    expect(scene.shown).toBe("other\n");
    expect(scene.reviews.panel.value).toMatchObject({ proposal: { path: "/p/other-1.txt" } });
  });

  it("outlives a connection that was lost, also if it is not shown", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    await time(1_000);
    await scene.select(2);
    scene.reviews.refresh(scene.proposals, false);
    await time(0);
    await scene.restart();
    expect(scene.detail(1).current).toBe(TYPED);
  });

  it("outlives two reasons at once to read the proposal again", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    scene.revise(1);
    scene.reviews.revised(scene.detail(1));
    await time(0);
    scene.reviews.revised(scene.detail(1));
    await time(1_000);
    expect(scene.shown).toBe(TYPED_REVISED);
    expect(scene.sent.at(-1)).toEqual({ id: 1, text: TYPED_REVISED, revision: 2 });
  });

  it("is not joined with an answer that is outdated", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    let open: () => void = () => undefined;
    scene.gates = [
      new Promise((resolve) => {
        open = resolve;
      }),
    ];
    scene.revise(1, "one\ntwo\nTHREE\nfour\n5\n");
    await time(0);
    scene.revise(1);
    open();
    await time(1_000);
    expect(scene.shown).toBe(TYPED_REVISED);
    expect(scene.announced).toEqual(["1.txt was brought up to date; look at it again"]);
  });

  it("is sent even if the proposal cannot be read again", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    scene.failure = new ApiError(500, "internal", "");
    scene.reviews.revised(scene.detail(1));
    await time(1_000);
    expect(scene.sent).toEqual([{ id: 1, text: TYPED, revision: 1 }]);
  });

  it("is brought into a new companion that fails at first", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    await time(1_000);
    scene.failure = new ApiError(500, "internal", "");
    await scene.restart();
    expect(scene.detail(1).current).toBe(TYPED);
  });

  it("is still the person's after a revision", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    await time(1_000);
    // The companion has brought the draft into the newer text.
    scene.revise(1, REVISED, TYPED_REVISED);
    await time(1_000);
    expect(scene.shown).toBe(TYPED_REVISED);
    expect(scene.sent).toHaveLength(1);
    scene.closed(1, "rejected");
    expect(scene.keptTexts).toEqual([TYPED_REVISED]);
  });

  it("is nothing to keep if it is as proposed after a revision", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    await time(1_000);
    scene.revise(1, TYPED);
    await time(1_000);
    scene.closed(1, "rejected");
    expect(scene.keptTexts).toEqual([]);
  });

  it("is kept if the same line was changed elsewhere", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    scene.revise(1, PROPOSED.replace("one", "ONE"));
    await time(1_000);
    expect(scene.keptTexts).toEqual([TYPED]);
    expect(scene.reviews.refusal.value).toMatch("The same lines were changed elsewhere");
  });

  it("is kept without a word below another proposal", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    await scene.select(2);
    scene.revise(1, PROPOSED.replace("one", "ONE"));
    await time(1_000);
    expect(scene.keptTexts).toEqual([TYPED]);
    expect(scene.reviews.refusal.value).toBeUndefined();
    expect(scene.announced.at(-1)).toMatch("1.txt: The same lines were changed elsewhere");
  });

  it("in another tab is no reason for a conflict", async () => {
    const scene = await Scene.set();
    scene.type("mine one\ntwo\nTHREE\nfour\nfive\n");
    await time(1_000);
    scene.reviews.changed(1);
    scene.propose(1, PROPOSED, { current: TYPED });
    scene.reviews.changed(1);
    await time(1_000);
    expect(scene.shown).toBe(TYPED);
    scene.revise(1, REVISED, `theirs ${TYPED_REVISED}`);
    await time(1_000);
    expect([scene.shown, scene.keptTexts]).toEqual([`theirs ${TYPED_REVISED}`, []]);
  });
});

describe("kept texts", () => {
  it("of one proposal are shown and dismissed one by one", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    scene.revise(1, PROPOSED.replace("one", "ONE"));
    await time(1_000);
    scene.type("second\n");
    scene.closed(1, "rejected");
    const { reviews } = scene;
    expect(scene.keptTexts).toEqual([TYPED, "second\n"]);
    for (const kept of reviews.kept.all.value) {
      reviews.showKept(kept.number);
      expect(reviews.panel.value).toMatchObject({ kind: "closed", text: kept.text });
    }
    reviews.dismissKept();
    expect(scene.keptTexts).toEqual([TYPED]);
  });
});

/** Several at once, as soon as the dialog takes a decision. */
async function decideAll(scene: Scene, how: "acceptAll" | "rejectAll"): Promise<void> {
  await time(1_000);
  await scene.reviews[how]();
}

describe("several proposals", () => {
  it("are decided without a text being kept that was accepted", async () => {
    for (const how of ["acceptAll", "rejectAll"] as const) {
      const scene = await Scene.set();
      scene.type(TYPED);
      scene.reviews.summarise();
      await decideAll(scene, how);
      expect([scene.proposals, scene.keptTexts], how).toEqual([[], []]);
    }
  });

  it("keep what was typed into one that was closed elsewhere", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    scene.reviews.summarise();
    scene.beforeAnswer = (id) => id === 1 && scene.details.delete(1);
    await decideAll(scene, "acceptAll");
    expect(scene.keptTexts).toEqual([TYPED]);
  });

  it("are accepted as the dialog has shown them, or not at all", async () => {
    const scene = await Scene.set();
    scene.type(TYPED);
    scene.reviews.summarise();
    await time(1_000);
    scene.revise(1, REVISED, TYPED_REVISED);
    await decideAll(scene, "acceptAll");
    expect(scene.accepted.map(({ id, revision }) => [id, revision])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    const { several } = scene.reviews;
    expect(several.failures.value.map(({ message }) => message)).toEqual(["it has changed"]);

    // The dialog now shows the newer one.
    expect(several.all.value).toEqual([scene.detail(1)]);
    expect(several.isSettled.value).toBe(false);
    await decideAll(scene, "acceptAll");
    expect(scene.accepted.at(-1)).toEqual({ id: 1, text: TYPED_REVISED, revision: 2 });
    expect(several.all.value).toBeUndefined();
  });

  it("leave out one of which nothing is left", async () => {
    const scene = await Scene.set();
    scene.type(ORIGINAL);
    const review = scene.reviews.open.review.value as Review;
    scene.reviews.touched({ ...review, differences: [] }, {} as Hunks, true);
    scene.reviews.summarise();
    await decideAll(scene, "acceptAll");
    expect(scene.accepted.map(({ id }) => id)).toEqual([2]);
    const [failure] = scene.reviews.several.failures.value;
    expect(failure?.message).toMatch("Every change is dropped");
  });

  it("stay on the screen while they are decided", async () => {
    const scene = await Scene.set();
    const { several } = scene.reviews;
    scene.reviews.summarise();
    scene.beforeAnswer = () => several.close();
    await time(1_000);
    const done = scene.reviews.acceptAll();
    expect(several.all.value).toHaveLength(2);
    await done;
    expect(several.all.value).toBeUndefined();
  });
});
