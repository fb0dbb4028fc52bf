/** What a request for permission says: the question, what it is about, and the answers. Pure. */

import type { AgentRequest, Tool } from "./wire";

type Option = AgentRequest["options"][number];

const QUESTIONS: Record<string, string> = {
  execute: "Run this command?",
  edit: "Make this change?",
  delete: "Delete this?",
  move: "Move this?",
  read: "Read this?",
  search: "Search for this?",
  fetch: "Fetch this from the network?",
  switch_mode: "Go on like this?",
};

/** What the person is asked. */
export function questionOf({ tool: { kind = "" } }: AgentRequest): string {
  return (Object.hasOwn(QUESTIONS, kind) && QUESTIONS[kind]) || "Allow this?";
}

/** What a title says beside the command that it repeats; undefined if that is nothing. */
export function titleBeside(title: string, command: string | undefined): string | undefined {
  if (command === undefined || !title.includes(command)) return title === "" ? undefined : title;
  // Such as `Shell: COMMAND (what it is for)`.
  const rest = title
    .replace(command, "")
    .replace(/^\s*[\w ]*:/, "")
    .trim();
  const about = (/^\((.*)\)$/s.exec(rest)?.[1] ?? rest).trim();
  return about === "" ? undefined : about;
}

/** The tool of a request without what is only the command once more. */
export function withoutRepetition(tool: Tool): Tool {
  const { command, content } = tool;
  if (command === undefined || content === undefined) return tool;
  const said = content.filter(
    (shown) => shown.type !== "text" || titleBeside(shown.text.trim(), command) !== undefined,
  );
  return { ...tool, content: said };
}

export interface Answers {
  /** For this time: yes before no. */
  once: readonly Option[];
  /** What holds from now on. */
  lasting: readonly Option[];
}

export function answersTo({ options }: AgentRequest): Answers {
  const once = options.filter(({ kind }) => !lasts(kind));
  const yes = once.filter(({ kind }) => !isReject(kind));
  return {
    once: [...yes, ...once.filter(({ kind }) => isReject(kind))],
    lasting: options.filter(({ kind }) => lasts(kind)),
  };
}

function lasts(kind: string | undefined): boolean {
  return kind?.endsWith("_always") ?? false;
}

/** Whether an option rejects, once or always. */
export function isReject(kind: string | undefined): boolean {
  return kind?.startsWith("reject") ?? false;
}

/** The words on a button. */
export function labelOf({ title, kind }: Option): string {
  // Agents call it just "Allow". Beside answers that last, it says that it does not.
  if (kind === "allow_once") return /^(allow|yes)( once)?$/i.test(title) ? "Allow once" : title;
  return title;
}
