/**
 * The editor bundle: what needs the editor component or its languages, and what nobody sees before.
 * It is a file of its own, `editor.js`, and only `load-editor.ts` imports it.
 */

export { ChatView } from "./chat/view";
export { reviewOf } from "./review/from-proposal";
export { rebased } from "./review/rebase";
export { ProposalView } from "./views/proposal";
export { SeveralDialog } from "./views/several";
