/** Light or dark: as the system has it, unless the person chooses. */

import { effect, signal } from "@preact/signals";
import { remember, remembered } from "./preferences";

const THEMES = ["auto", "light", "dark"] as const;

export type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(remembered("theme", THEMES, "auto"));

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] as Theme;
  remember("theme", theme.value);
}

effect(() => {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
