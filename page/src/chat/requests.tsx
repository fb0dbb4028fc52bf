/**
 * The agent's pending requests. Nothing is preselected, nothing takes the focus, and no
 * shortcut answers: permission is given only with the button that says so.
 */

import { useSignal } from "@preact/signals";
import type { App } from "../state/app";
import { visible } from "../text/visible";
import { answersOf, choose, EMPTY, type FormAnswer, write } from "./answers";
import type { Chat } from "./chat";
import { ToolBody } from "./tool-call";
import type { AgentRequest, Question } from "./wire";

export function Requests({ app }: { app: App }) {
  const { chat } = app;
  const requests = chat.requests.value;
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
  return (
    <article class="request" data-request={request.request} aria-busy={answered}>
      <h3>
        {visible(request.title)}
        {request.background && <span class="badge">in the background</span>}
      </h3>
      <ToolBody tool={request.tool} open={request.proposal === undefined} />
      {request.votes !== undefined && (
        <p class="quiet">
          {request.votes[0]} of {request.votes[1]} have agreed.
        </p>
      )}
      {request.questions === undefined ? (
        <Permission app={app} request={request} answered={answered} />
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

function Permission({
  app,
  request,
  answered,
}: {
  app: App;
  request: AgentRequest;
  answered: boolean;
}) {
  const { proposal, options } = request;
  const canReject = options.some(({ kind }) => isReject(kind));
  return (
    <p class="actions">
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
      {options.map(({ id, title, kind }) => (
        <button
          key={id}
          type="button"
          class={isReject(kind) ? "button reject" : "button"}
          data-option={id}
          data-option-kind={kind}
          disabled={answered}
          onClick={() => void app.chat.answer(request, { option: id })}
        >
          {visible(title)}
        </button>
      ))}
      {!canReject && <Decline chat={app.chat} request={request} answered={answered} />}
    </p>
  );
}

/** Whether an option rejects, once or always. */
function isReject(kind: string | undefined): boolean {
  return kind?.startsWith("reject") ?? false;
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
