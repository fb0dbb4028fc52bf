/** A `<details>` element whose content is not created before it is opened. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export function LazyDetails({
  summary,
  open,
  children,
}: {
  summary: ComponentChildren;
  open: boolean;
  children: ComponentChildren;
}) {
  const chosen = useSignal<boolean | undefined>(undefined);
  const isOpen = chosen.value ?? open;
  return (
    <details
      class="lazy-details"
      open={isOpen}
      onToggle={(event) => {
        if (event.currentTarget.open !== isOpen) chosen.value = event.currentTarget.open;
      }}
    >
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  );
}
