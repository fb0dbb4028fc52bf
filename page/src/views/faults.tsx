/** Says that agents are told nothing of some folders, because of which mistake, and where it is. */

import type { Fault } from "../api/wire";
import type { App } from "../state/app";
import { visible } from "../text/visible";

export function Faults({ app }: { app: App }) {
  const faults = app.companion.value?.status.faults ?? [];
  if (faults.length === 0) return null;
  return (
    <div class="notice" role="alert" data-notice="faults">
      <ul>
        {faults.map((fault) => (
          <li key={`${place(fault)} ${fault.message}`}>
            <strong>
              {fault.folder === undefined
                ? "Nothing is shared with agents"
                : `Nothing of ${visible(fault.folder)} is shared with agents`}
            </strong>{" "}
            until this is mended: <code>{visible(place(fault))}</code> {visible(fault.message)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** As compilers write it. */
function place({ source, line, column }: Fault): string {
  return line === undefined ? source : `${source}:${line}:${column}`;
}
