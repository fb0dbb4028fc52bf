/** The dialog with the keyboard shortcuts. */

import { useEffect, useRef } from "preact/hooks";
import { SHORTCUTS } from "../shortcuts";
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
        <h2 id="help-title">Keyboard shortcuts</h2>
        <button type="button" class="button small" data-act="close-help" onClick={close}>
          Close
        </button>
      </div>
      <dl>
        {SHORTCUTS.map(([keys, meaning]) => (
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
        The agent writes what you accept, exactly as the result shows it.{" "}
        <a href="/assets/licenses.md" target="_blank" rel="noreferrer">
          Licences
        </a>
      </p>
    </dialog>
  );
}
