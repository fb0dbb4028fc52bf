/** The keys, as a dialog. */

import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "../keys";
import type { App } from "../state/app";

export function Help({ app }: { app: App }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = app.help.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const close = () => {
    app.help.value = false;
  };
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <div class="help-head">
        <h2 id="help-title">Keys</h2>
        <button type="button" class="button small" data-act="close-help" onClick={close}>
          Close
        </button>
      </div>
      <dl>
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split("  ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        What you accept is written by the agent, exactly as the result shows it.{" "}
        <a href="/assets/licenses.md" target="_blank" rel="noreferrer">
          Licences
        </a>
      </p>
    </dialog>
  );
}
