/** What can be unfolded; what is inside is made when it is. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export function Folded({
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
      class="folded"
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
