/** Where the page starts: a key for this tab, then everything else. */

import { render } from "preact";
import { Client } from "./api/client";
import { obtainKey } from "./api/key";
import { listenToKeys } from "./keys";
import { fetchEditor } from "./later";
import { App } from "./state/app";
import { Locked } from "./views/locked";
import { Shell } from "./views/shell";

const fetchQuietly = () => fetchEditor().catch(() => undefined);

const root = document.getElementById("app") as HTMLElement;

function locked(message?: string): void {
  document.documentElement.dataset.state = "locked";
  render(<Locked {...(message === undefined ? {} : { message })} />, root);
}

// A fresh link that is opened in this tab changes nothing but the fragment.
addEventListener("hashchange", () => {
  if (location.hash !== "") location.reload();
});

obtainKey().then(
  (key) => {
    if (key === undefined) return locked();
    const app = new App(new Client(key));
    listenToKeys(app);
    render(<Shell app={app} />, root);
    // Reading it takes longer than all the rest, so the rest comes first. If it fails, whoever needs it
    // says so, and the next connection brings another try.
    app.connection.subscribe((connection) => {
      if (connection === "live") requestAnimationFrame(() => setTimeout(fetchQuietly));
    });
  },
  (error: Error) => locked(error.message),
);
