/**
 * Where the person is: a view and, on a phone, whether the queue or the proposal is on the
 * screen. Each step is an entry of the browser's history, so that Back goes one step back.
 */

import { signal } from "@preact/signals";

export type View = "review" | "live" | "chat";

export type Pane = "queue" | "proposal";

interface Place {
  view: View;
  pane: Pane;
}

export class Navigation {
  readonly view = signal<View>("review");
  readonly pane = signal<Pane>("proposal");

  constructor() {
    addEventListener("popstate", ({ state }) => {
      if (isPlace(state)) this.show(state);
    });
    history.replaceState(this.place(), "");
  }

  go(to: Partial<Place>): void {
    const place = { ...this.place(), ...to };
    if (place.view === this.view.value && place.pane === this.pane.value) return;
    this.show(place);
    history.pushState(place, "");
  }

  private place(): Place {
    return { view: this.view.value, pane: this.pane.value };
  }

  private show({ view, pane }: Place): void {
    this.view.value = view;
    this.pane.value = pane;
  }
}

function isPlace(state: unknown): state is Place {
  return typeof state === "object" && state !== null && "view" in state && "pane" in state;
}
