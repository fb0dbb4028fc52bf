import type { ComponentChildren, VNode } from "preact";
import { describe, expect, it } from "vitest";
import { NoChat } from "../../src/chat/no-chat";

/** Everything that an element shows as text. Components in it are drawn, too. */
function textOf(shown: ComponentChildren): string {
  if (Array.isArray(shown)) return shown.map(textOf).join("");
  if (typeof shown === "string") return shown;
  if (typeof shown !== "object" || shown === null) return "";
  const { type, props } = shown as VNode<{ children?: ComponentChildren }>;
  expect(props).not.toHaveProperty("dangerouslySetInnerHTML");
  const draws = type as (props: object) => ComponentChildren;
  return typeof type === "function" ? textOf(draws(props)) : textOf(props.children);
}

describe("where the chat would be", () => {
  it("stands what is wrong, as text and with everything in it seen", () => {
    const text = textOf(NoChat({ why: "config.toml:3:7: `<b>\u202e` is not an address" }));
    expect(text).toContain("config.toml:3:7: `<b>⟨202E⟩` is not an address");
    expect(text).not.toContain("--daemon");
  });
});
