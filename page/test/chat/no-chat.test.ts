import { describe, expect, it } from "vitest";
import { NoChat } from "../../src/chat/no-chat";
import { seen } from "../seen";

describe("where the chat would be", () => {
  it("stands what is wrong, as text and with everything in it seen", () => {
    const text = seen(NoChat({ why: "config.toml:3:7: `<b>\u202e` is not an address" }));
    expect(text).toContain("config.toml:3:7: `<b>⟨202E⟩` is not an address");
    expect(text).not.toContain("--daemon");
  });
});
