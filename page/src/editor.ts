/**
 * What needs the editor component or its languages: nine tenths of the page's code.
 * It is a file of its own, and only `later.ts` names it.
 */

export { ChatView } from "./chat/view";
export { sheetOf } from "./review/laying";
export { SheetView } from "./views/sheet";
