import { expect, it } from "vitest";
import { answersOf, choose, EMPTY, type FormAnswer, write } from "../../src/chat/answers";
import type { Question } from "../../src/chat/wire";

const question = (several: boolean): Question => ({
  question: "which?",
  answers: [
    ["a", null],
    ["b", "the other"],
  ],
  several,
});

type Act = (filled: FormAnswer) => FormAnswer;
const pick =
  (several: boolean, label: string, yes = true): Act =>
  (filled) =>
    choose(question(several), filled, label, yes);
const say =
  (several: boolean, own: string): Act =>
  (filled) =>
    write(question(several), filled, own);

const CASES: [name: string, several: boolean, acts: Act[], answer: string[] | undefined][] = [
  ["nothing", false, [], undefined],
  ["one", false, [pick(false, "a")], ["a"]],
  ["another instead", false, [pick(false, "a"), pick(false, "b")], ["b"]],
  ["own words instead", false, [pick(false, "a"), say(false, " mine ")], ["mine"]],
  ["a choice instead of own words", false, [say(false, "mine"), pick(false, "b")], ["b"]],
  ["empty words change nothing", false, [pick(false, "a"), say(false, " ")], ["a"]],
  ["several in their order", true, [pick(true, "b"), pick(true, "a")], ["a", "b"]],
  ["one taken back", true, [pick(true, "a"), pick(true, "b"), pick(true, "a", false)], ["b"]],
  ["several and own words", true, [pick(true, "b"), say(true, "c")], ["b", "c"]],
  ["all taken back", true, [pick(true, "a"), pick(true, "a", false)], undefined],
];

it.each(CASES)("%s", (_name, several, acts, answer) => {
  const filled = acts.reduce((before, act) => act(before), EMPTY);
  expect(answersOf([question(several)], [filled])).toEqual(answer && [answer]);
});

it("every question wants an answer", () => {
  const both = [question(false), question(true)];
  expect(answersOf(both, [{ chosen: ["a"], own: "" }])).toBeUndefined();
});
