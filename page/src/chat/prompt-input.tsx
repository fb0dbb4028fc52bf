/** The text field of the composer, and the list of completions above it. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { App } from "../state/app";
import { visible } from "../text/visible";
import { Completion } from "./completion";

const LIST = "completions";

export function PromptInput({ app }: { app: App }) {
  const { chat } = app;
  const field = useRef<HTMLTextAreaElement>(null);
  const completion = useMemo(
    () => new Completion(chat, (sentence) => app.announce(sentence)),
    [app, chat],
  );
  const text = chat.text.value;
  const offering = completion.offers.value.length > 0;
  useLayoutEffect(() => stretch(field.current), [text]);

  const changed = () => {
    const { current } = field;
    if (current === null) return;
    chat.text.value = current.value;
    void completion.update(current.value, current.selectionStart);
  };
  /** Puts a text into the field and sets the caret. */
  const put = (value: string, caret: number) => {
    chat.text.value = value;
    const { current } = field;
    if (current === null) return;
    current.value = value;
    current.focus();
    current.setSelectionRange(caret, caret);
  };
  const take = (index?: number) => {
    const caret = completion.take(index);
    if (caret !== undefined) put(chat.text.value, caret);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const handled = offering ? chooseBy(event, completion, take) : writeBy(event, app, put);
    if (handled) event.preventDefault();
  };

  return (
    <div class="input">
      {offering && <Offers completion={completion} take={take} />}
      <textarea
        ref={field}
        data-chat-input
        rows={1}
        aria-label="Prompt for the agent"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={offering ? LIST : undefined}
        aria-activedescendant={offering ? optionId(completion.marked.value) : undefined}
        placeholder={placeholderFor(app)}
        value={text}
        onInput={changed}
        onClick={changed}
        onKeyDown={pressed}
        onBlur={() => completion.close()}
      />
    </div>
  );
}

function placeholderFor({ chat }: App): string {
  if (!chat.isOpen.value) return "Not connected yet; you can write already";
  if (chat.requests.value.length > 0) {
    return "The agent waits for your answer above; a prompt waits until it is done";
  }
  return chat.status.value.busy
    ? "The agent is working; a prompt waits until it is done"
    : "Write a prompt. Enter sends, Shift+Enter makes a new line";
}

/** Keys while completions are offered; returns whether the key was used. */
function chooseBy(event: KeyboardEvent, completion: Completion, take: () => void): boolean {
  switch (event.key) {
    case "ArrowDown":
      completion.move(1);
      return true;
    case "ArrowUp":
      completion.move(-1);
      return true;
    case "Enter":
    case "Tab":
      if (event.shiftKey) return false;
      take();
      return true;
    case "Escape":
      completion.close();
      return true;
    default:
      return false;
  }
}

/** Keys while none are. */
function writeBy(
  event: KeyboardEvent,
  { chat }: App,
  put: (value: string, caret: number) => void,
): boolean {
  if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "Enter") {
    void chat.send();
    return true;
  }
  if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return false;
  const said = chat.history.go(event.key === "ArrowUp" ? -1 : 1, chat.text.value);
  if (said === undefined) return false;
  put(said, said.length);
  return true;
}

function Offers({ completion, take }: { completion: Completion; take: (index: number) => void }) {
  return (
    <div
      class="completions"
      id={LIST}
      role="listbox"
      tabIndex={-1}
      aria-label={labelFor(completion)}
    >
      {completion.offers.value.map(({ word, about }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys.
        <div
          key={word}
          id={optionId(index)}
          role="option"
          tabIndex={-1}
          aria-selected={index === completion.marked.value}
          // The text field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(index)}
        >
          <bdi class="mono">
            {completion.kind === "command" && "/"}
            {visible(word)}
          </bdi>
          {about !== null && <span class="quiet">{visible(about)}</span>}
        </div>
      ))}
    </div>
  );
}

function labelFor(completion: Completion): string {
  return completion.kind === "command" ? "Commands" : "Files";
}

function optionId(index: number): string {
  return `completion-${index}`;
}

/** Makes the field as high as its text. */
function stretch(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  const borders = field.offsetHeight - field.clientHeight;
  field.style.height = `${field.scrollHeight + borders}px`;
}
