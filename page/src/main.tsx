/** Where the page starts: it gets the key of this tab, then draws. */

import { render } from "preact";
import { Client } from "./api/client";
import { obtainKey } from "./api/key";
import { loadEditor } from "./load-editor";
import { listenToShortcuts } from "./shortcuts";
import { App } from "./state/app";
import { Locked } from "./views/locked";
import { Shell } from "./views/shell";

const preloadEditor = () => loadEditor().catch(() => undefined);

const root = document.getElementById("app") as HTMLElement;

function renderLocked(message?: string): void {
  document.documentElement.dataset.state = "locked";
  render(<Locked {...(message === undefined ? {} : { message })} />, root);
}

// Opening a fresh link in this tab changes only the fragment, which does not load the page again.
addEventListener("hashchange", () => {
  if (location.hash !== "") location.reload();
});

obtainKey().then(
  (key) => {
    if (key === undefined) return renderLocked();
    const app = new App(new Client(key));
    listenToShortcuts(app);
    render(<Shell app={app} />, root);
    // The editor bundle takes longer to evaluate than all the rest, so the rest is drawn first. If it
    // fails, the view that needs it says so, and the next connection tries again.
    app.connection.subscribe((connection) => {
      if (connection === "live") requestAnimationFrame(() => setTimeout(preloadEditor));
    });
  },
  (error: Error) => renderLocked(error.message),
);
