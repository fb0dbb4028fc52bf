/**
 * The agent's pending requests. A request for permission is a question with numbered answers.
 * The digits answer only while the focus is in the card, and only after it has been on the
 * screen for a moment, so that what is typed elsewhere gives no permission.
 */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { App } from "../state/app";
import { isNarrow } from "../state/screen";
import { Settling } from "../state/settling";
import { visible } from "../text/visible";
import { answersOf, choose, EMPTY, type FormAnswer, write } from "./answers";
import type { Chat } from "./chat";
import {
  answersTo,
  isReject,
  labelOf,
  questionOf,
  titleBeside,
  withoutRepetition,
} from "./permission";
import { ToolBody } from "./tool-call";
import { Unreviewed } from "./unreviewed";
import type { AgentRequest, Question } from "./wire";

export function Requests({ app }: { app: App }) {
  const { chat } = app;
  const requests = chat.requests.value;
  useFocus(requests[0]);
  return (
    <>
      {chat.answeredElsewhere.value !== undefined && (
        <p class="line answered-notice" data-notice="answered">
          {chat.answeredElsewhere.value}
        </p>
      )}
      {requests.length > 0 && (
        <section class="requests" aria-label="Requests of the agent">
          {requests.map((request) => (
            <Card key={request.request} app={app} request={request} />
          ))}
        </section>
      )}
    </>
  );
}

function Card({ app, request }: { app: App; request: AgentRequest }) {
  const { chat } = app;
  const answered = chat.answered.value.has(request.request);
  const isPermission = request.questions === undefined;
  const settling = useMemo(() => new Settling(), []);
  const isSettled = settling.isSettled(settling);
  useEffect(() => settling.begin(settling), [settling]);
  const { tool, title } = request;
  const about = titleBeside(tool.title ?? title, tool.command);
  return (
    <article
      class="request"
      tabIndex={-1}
      data-request={request.request}
      data-settling={isPermission && !isSettled}
      aria-busy={answered}
      aria-label={isPermission ? questionOf(request) : visible(title)}
      onKeyDown={(event) => {
        if (isPermission && isSettled && pressNumbered(event)) event.preventDefault();
      }}
    >
      <h3>
        {isPermission ? questionOf(request) : visible(title)}
        {request.background && <span class="badge">in the background</span>}
      </h3>
      {isPermission && about !== undefined && <p class="request-about">{visible(about)}</p>}
      <ToolBody tool={withoutRepetition(tool)} open={request.proposal === undefined} />
      <Unreviewed request={request} />
      {request.votes !== undefined && (
        <p class="quiet">
          {request.votes[0]} of {request.votes[1]} have agreed.
        </p>
      )}
      {request.questions === undefined ? (
        <Permission app={app} request={request} answered={answered} isSettled={isSettled} />
      ) : (
        <Questions
          chat={chat}
          request={request}
          questions={request.questions}
          answered={answered}
        />
      )}
    </article>
  );
}

/** Moves the focus to the oldest request if nothing else has it, and to the prompt after the last one. */
function useFocus(oldest: AgentRequest | undefined): void {
  const id = oldest?.questions === undefined ? oldest?.request : undefined;
  const wasThere = useRef(false);
  useEffect(() => {
    const isAnswered = wasThere.current && id === undefined;
    wasThere.current = id !== undefined;
    // Not from a field, even if it is empty: what the person is about to type would be an answer.
    const { activeElement } = document;
    if (activeElement !== null && activeElement !== document.body) return;
    if (id !== undefined) {
      document.querySelector<HTMLElement>(`[data-request="${CSS.escape(id)}"]`)?.focus();
    } else if (isAnswered && !isNarrow.peek()) {
      document.querySelector<HTMLElement>("[data-chat-input]")?.focus();
    }
  }, [id]);
}

/** Presses the button with the digit of a key; returns whether there is one. */
function pressNumbered(event: KeyboardEvent & { currentTarget: HTMLElement }): boolean {
  const { key, repeat, ctrlKey, metaKey, altKey, target } = event;
  if (repeat || ctrlKey || metaKey || altKey || !/^[1-9]$/.test(key)) return false;
  if (target instanceof HTMLElement && target.matches("input, textarea, select")) return false;
  const button = event.currentTarget.querySelector<HTMLButtonElement>(`[data-number="${key}"]`);
  button?.click();
  return button !== null;
}

interface PermissionProps {
  app: App;
  request: AgentRequest;
  answered: boolean;
  isSettled: boolean;
}

function Permission({ app, request, answered, isSettled }: PermissionProps) {
  const { proposal, options } = request;
  const { once, lasting } = answersTo(request);
  const numbered = [...once, ...lasting];
  const canReject = options.some(({ kind }) => isReject(kind));
  const button = (option: AgentRequest["options"][number]) => {
    const number = numbered.indexOf(option) + 1;
    const { id, kind } = option;
    return (
      <button
        key={id}
        type="button"
        class={`button ${looks(kind)}`}
        data-option={id}
        data-option-kind={kind}
        data-number={number}
        data-decides
        disabled={answered}
        onClick={() => isSettled && void app.chat.answer(request, { option: id })}
      >
        {visible(labelOf(option))}
        <kbd>{number}</kbd>
      </button>
    );
  };
  return (
    <>
      <p class="actions">
        {once.map(button)}
        {!canReject && <Decline chat={app.chat} request={request} answered={answered} />}
        {proposal !== undefined && (
          <button
            type="button"
            class="button plain link"
            data-act="review-edit"
            onClick={() => app.showProposal(proposal)}
          >
            Review edit #{proposal}
          </button>
        )}
      </p>
      {lasting.length > 0 && (
        <div class="actions lasting">
          <span class="quiet">From now on, without asking:</span>
          {lasting.map(button)}
        </div>
      )}
    </>
  );
}

function looks(kind: string | undefined): string {
  if (isReject(kind)) return "reject";
  return kind === "allow_once" ? "accept" : "small";
}

function Decline({
  chat,
  request,
  answered,
}: {
  chat: Chat;
  request: AgentRequest;
  answered: boolean;
}) {
  return (
    <button
      type="button"
      class="button reject"
      data-act="decline"
      disabled={answered}
      onClick={() => void chat.answer(request, "decline")}
    >
      Decline
    </button>
  );
}

interface QuestionsProps {
  chat: Chat;
  request: AgentRequest;
  questions: readonly Question[];
  answered: boolean;
}

function Questions({ chat, request, questions, answered }: QuestionsProps) {
  const filled = useSignal<readonly FormAnswer[]>(questions.map(() => EMPTY));
  const answers = answersOf(questions, filled.value);
  const fill = (at: number, how: (before: FormAnswer) => FormAnswer) => {
    filled.value = questions.map((_, index) => {
      const before = filled.value[index] ?? EMPTY;
      return index === at ? how(before) : before;
    });
  };
  return (
    <form
      class="questions"
      onSubmit={(event) => {
        event.preventDefault();
        if (answers !== undefined) void chat.answer(request, { answers });
      }}
    >
      {questions.map((question, index) => (
        <Choices
          key={index}
          name={`${request.request}-${index}`}
          index={index}
          question={question}
          filled={filled.value[index] ?? EMPTY}
          fill={(how) => fill(index, how)}
        />
      ))}
      <p class="actions">
        <button
          type="submit"
          class="button accept"
          data-act="answer"
          disabled={answered || answers === undefined}
        >
          Answer
        </button>
        <Decline chat={chat} request={request} answered={answered} />
      </p>
    </form>
  );
}

interface ChoicesProps {
  name: string;
  index: number;
  question: Question;
  filled: FormAnswer;
  fill: (how: (before: FormAnswer) => FormAnswer) => void;
}

function Choices({ name, index, question, filled, fill }: ChoicesProps) {
  return (
    <fieldset data-question={index}>
      <legend>
        {question.header !== undefined && <span class="badge">{visible(question.header)}</span>}
        {visible(question.question)}
      </legend>
      {question.answers.map(([label, description]) => (
        <label key={label} class="answer">
          <input
            type={question.several ? "checkbox" : "radio"}
            name={name}
            value={label}
            checked={filled.chosen.includes(label)}
            onChange={(event) => {
              const { checked } = event.currentTarget;
              fill((before) => choose(question, before, label, checked));
            }}
          />
          <span>
            {visible(label)}
            {description !== null && <span class="quiet"> {visible(description)}</span>}
          </span>
        </label>
      ))}
      <input
        class="own"
        type="text"
        aria-label={`Your own answer: ${visible(question.question)}`}
        placeholder={question.several ? "and your own answer" : "or your own answer"}
        value={filled.own}
        onInput={(event) => {
          const { value } = event.currentTarget;
          fill((before) => write(question, before, value));
        }}
      />
    </fieldset>
  );
}
