import { expect, it } from "vitest";
import { PromptHistory } from "../../src/chat/prompt-history";

it("what was said before can be browsed, but what is being written is not lost", () => {
  const history = new PromptHistory(() => ["one", "two"]);
  expect(history.go(-1, "draft")).toBeUndefined();
  expect(history.go(1, "")).toBeUndefined();
  expect(history.go(-1, "")).toBe("two");
  expect(history.go(-1, "two")).toBe("one");
  expect(history.go(-1, "one")).toBeUndefined();
  expect(history.go(-1, "one, changed")).toBeUndefined();
  expect(history.go(1, "one")).toBe("two");
  expect(history.go(1, "two")).toBe("");
  expect(history.go(-1, "")).toBe("two");
  history.leave();
  expect(history.go(-1, "")).toBe("two");
});
