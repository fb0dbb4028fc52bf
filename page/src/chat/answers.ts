/** What a person fills in to answer questions. Pure. */

import type { Question } from "./wire";

export interface Filled {
  chosen: readonly string[];
  /** In their own words. */
  own: string;
}

export const EMPTY: Filled = { chosen: [], own: "" };

export function choose(question: Question, filled: Filled, label: string, yes: boolean): Filled {
  if (!question.several) return { chosen: yes ? [label] : [], own: "" };
  const others = filled.chosen.filter((chosen) => chosen !== label);
  return { ...filled, chosen: yes ? [...others, label] : others };
}

/** One's own words stand beside several choices, and instead of a single one. */
export function write(question: Question, filled: Filled, own: string): Filled {
  const instead = !question.several && own.trim() !== "";
  return { chosen: instead ? [] : filled.chosen, own };
}

/** The answers in the order of the questions; undefined while one is missing. */
export function answersOf(
  questions: readonly Question[],
  filled: readonly Filled[],
): string[][] | undefined {
  const answers = questions.map((question, index) => {
    const { chosen, own } = filled[index] ?? EMPTY;
    // In the order in which they were offered, whatever was ticked first.
    const labels = question.answers
      .map(([label]) => label)
      .filter((label) => chosen.includes(label));
    return own.trim() === "" ? labels : [...labels, own.trim()];
  });
  return answers.every((answer) => answer.length > 0) ? answers : undefined;
}
