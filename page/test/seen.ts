import type { ComponentChildren, VNode } from "preact";
import { expect } from "vitest";

type Props = { children?: ComponentChildren; open?: boolean; hidden?: boolean };

/**
 * The text of an element that is seen without doing anything: nothing of what is hidden, and only the
 * summary of details that are closed. Components in it are drawn, too.
 */
export function seen(shown: ComponentChildren): string {
  if (Array.isArray(shown)) return shown.map(seen).join("");
  if (typeof shown === "string") return shown;
  if (typeof shown !== "object" || shown === null) return "";
  const { type, props } = shown as VNode<Props>;
  expect(props).not.toHaveProperty("dangerouslySetInnerHTML");
  if (typeof type === "function") return seen((type as (props: Props) => ComponentChildren)(props));
  if (props.hidden) return "";
  if (type === "details" && !props.open) return seen(summaryOf(props.children));
  return seen(props.children);
}

function summaryOf(children: ComponentChildren): ComponentChildren {
  return [children].flat().find((it) => (it as VNode | undefined)?.type === "summary");
}
