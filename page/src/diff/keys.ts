/** Keys of the editor that are the page's own. */

import type { Command, KeyBinding } from "@codemirror/view";

/** On macOS both: the page names the first one everywhere, and the second one is the custom there. */
export function acceptKeys(accept: Command): readonly KeyBinding[] {
  return [
    { key: "Ctrl-Enter", run: accept },
    { mac: "Cmd-Enter", run: accept },
  ];
}
