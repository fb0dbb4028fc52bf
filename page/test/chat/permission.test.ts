import { describe, expect, it } from "vitest";
import {
  answersTo,
  labelOf,
  questionOf,
  titleBeside,
  withoutRepetition,
} from "../../src/chat/permission";
import { Unreviewed } from "../../src/chat/unreviewed";
import type { AgentRequest } from "../../src/chat/wire";
import { seen } from "../seen";

const request = (kind: string, options: [id: string, kind?: string][] = []): AgentRequest => ({
  request: "r",
  title: "t",
  tool: { id: "1", kind },
  options: options.map(([id, kind]) => ({ id, title: id, ...(kind && { kind }) })),
  background: false,
});

describe("a request for permission", () => {
  it("says what is not reviewed of what happens then", () => {
    const agent = { ...request("think"), unreviewed: "Edits go \u202eunseen." };
    expect(seen(Unreviewed({ request: agent }))).toBe("Edits go ⟨202E⟩unseen.");
    expect(seen(Unreviewed({ request: request("edit") }))).toBe("");
  });

  it("is a question", () => {
    expect(questionOf(request("execute"))).toBe("Run this command?");
    expect(questionOf(request("invented"))).toBe("Allow this?");
    expect(questionOf(request("toString"))).toBe("Allow this?");
  });

  it("has yes, then no, then apart from them what lasts", () => {
    const { once, lasting } = answersTo(
      request("execute", [
        ["project", "allow_always"],
        ["never", "reject_always"],
        ["no", "reject_once"],
        ["yes", "allow_once"],
        ["unnamed"],
      ]),
    );
    expect(once.map(({ id }) => id)).toEqual(["yes", "unnamed", "no"]);
    expect(lasting.map(({ id }) => id)).toEqual(["project", "never"]);
  });

  it.each([
    ["Allow", "allow_once", "Allow once"],
    ["Yes, and manually approve edits", "allow_once", "Yes, and manually approve edits"],
    ["Always Allow in project: rm", "allow_always", "Always Allow in project: rm"],
  ])("says on the button %j", (title, kind, label) => {
    expect(labelOf({ id: "x", title, kind })).toBe(label);
  });
});

describe("a command", () => {
  it.each<[string, string | undefined, string | undefined]>([
    ["touch yes", "touch yes", undefined],
    ["Shell: touch yes", "touch yes", undefined],
    ["Shell: touch yes (make it)", "touch yes", "make it"],
    ["touch yes [in folder a] (make it)", "touch yes", "[in folder a] (make it)"],
    ["Read a.txt", undefined, "Read a.txt"],
    ["Something else", "touch yes", "Something else"],
    ["", undefined, undefined],
  ])("is said once: %j beside %j is %j", (title, command, rest) => {
    expect(titleBeside(title, command)).toBe(rest);
  });

  it("is not repeated below itself, unlike its output", () => {
    const text = (text: string) => ({ type: "text" as const, text });
    const content = [text("touch yes"), text("done")];
    const tool = withoutRepetition({ id: "1", command: "touch yes", content });
    expect(tool.content).toEqual([text("done")]);
  });
});
