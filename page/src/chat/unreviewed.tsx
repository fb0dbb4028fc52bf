import { visible } from "../text/visible";
import type { AgentRequest } from "./wire";

/** What is not reviewed of what happens if the person agrees, in the words of the program. */
export function Unreviewed({ request: { unreviewed } }: { request: AgentRequest }) {
  return unreviewed === undefined ? null : <p class="request-unreviewed">{visible(unreviewed)}</p>;
}
