/** How many lines a proposal adds and removes. */

import type { Proposal } from "../api/wire";
import { count } from "../text/format";

export function Lines({ proposal, as: Element }: { proposal: Proposal; as: "li" | "span" }) {
  const { added, removed } = proposal;
  if (added === undefined || removed === undefined) return null;
  const words = `${count(added, "line")} added, ${removed.toLocaleString("en")} removed`;
  return (
    <Element class="lines" data-lines={`${added},${removed}`} title={words}>
      <span class="added" aria-hidden="true">
        +{added.toLocaleString("en")}
      </span>{" "}
      <span class="removed" aria-hidden="true">
        −{removed.toLocaleString("en")}
      </span>
      <span class="visually-hidden">{words}</span>
    </Element>
  );
}
