import { EditorState } from "@codemirror/state";
import { type EditorView, keymap, runScopeHandlers } from "@codemirror/view";
import { expect, it, vi } from "vitest";
import { acceptKeys } from "../src/diff/keys";

vi.hoisted(() => {
  vi.stubGlobal("navigator", { platform: "MacIntel", userAgent: "", vendor: "" });
});

it.each(["ctrlKey", "metaKey"])("on macOS, Enter accepts with %s", (modifier) => {
  const accept = vi.fn(() => true);
  const state = EditorState.create({ extensions: keymap.of(acceptKeys(accept)) });
  const event = { key: "Enter", keyCode: 13, [modifier]: true, preventDefault: () => undefined };
  runScopeHandlers({ state } as EditorView, event as unknown as KeyboardEvent, "editor");
  expect(accept).toHaveBeenCalledOnce();
});
