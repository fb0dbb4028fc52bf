/** The form for an agent's questions: what was filled in, and the answers that it makes. Pure. */

import type { Question } from "./wire";

export interface FormAnswer {
  chosen: readonly string[];
  /** A text that the person typed. */
  own: string;
}

export const EMPTY: FormAnswer = { chosen: [], own: "" };

export function choose(
  question: Question,
  filled: FormAnswer,
  label: string,
  yes: boolean,
): FormAnswer {
  if (!question.several) return { chosen: yes ? [label] : [], own: "" };
  const others = filled.chosen.filter((chosen) => chosen !== label);
  return { ...filled, chosen: yes ? [...others, label] : others };
}

/** A typed text is added to several choices, and replaces a single one. */
export function write(question: Question, filled: FormAnswer, own: string): FormAnswer {
  const instead = !question.several && own.trim() !== "";
  return { chosen: instead ? [] : filled.chosen, own };
}

/** The answers in the order of the questions; undefined while one is missing. */
export function answersOf(
  questions: readonly Question[],
  filled: readonly FormAnswer[],
): string[][] | undefined {
  const answers = questions.map((question, index) => {
    const { chosen, own } = filled[index] ?? EMPTY;
    // In the order in which they were offered, not in the order of the clicks.
    const labels = question.answers
      .map(([label]) => label)
      .filter((label) => chosen.includes(label));
    return own.trim() === "" ? labels : [...labels, own.trim()];
  });
  return answers.every((answer) => answer.length > 0) ? answers : undefined;
}
