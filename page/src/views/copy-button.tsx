/** A button that copies a text to the clipboard, and says whether it worked. */

import { useSignal } from "@preact/signals";

export function CopyButton({ text, label, name }: { text: string; label: string; name: string }) {
  const done = useSignal<"copied" | "failed" | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      done.value = "copied";
    } catch {
      // Browsers allow it in a secure context only, so not for a page from another machine.
      done.value = "failed";
    }
    setTimeout(() => {
      done.value = undefined;
    }, 2_000);
  };
  const words = { copied: "Copied", failed: "Select it to copy" };
  return (
    <button
      type="button"
      class="button small copy"
      data-act={name}
      onClick={copy}
      aria-live="polite"
    >
      {done.value ? words[done.value] : label}
    </button>
  );
}
