/** The connection, where the daemon runs, the model, and what the agent may do without asking. */

import { count } from "../text/format";
import { visible } from "../text/visible";
import type { Chat } from "./chat";
import type { ChatStatus, DaemonConnection, NamedChoice } from "./wire";

const STATES: Record<DaemonConnection["state"], string> = {
  off: "not connected",
  starting: "starting a daemon…",
  connecting: "connecting…",
  catchingUp: "catching up…",
  live: "connected",
  reconnecting: "reconnecting…",
  lost: "disconnected",
  failed: "could not connect",
};

const MODE = "What the agent may do without asking";

export function StatusBar({ chat, list }: { chat: Chat; list: () => void }) {
  const status = chat.status.value;
  const { state } = status.connection;
  return (
    <header class="conversation-head">
      <div class="conversation-line">
        <button type="button" class="button plain back" data-act="conversations" onClick={list}>
          ‹<span class="visually-hidden">Conversations</span>
        </button>
        <h2 class="conversation-title">
          <bdi>{visible(chat.title.value ?? "Chat")}</bdi>
        </h2>
        <span class="state" role="status" data-connection={tone(state)} data-state={state}>
          {STATES[state]}
        </span>
        <span class="grow" />
        <Usage status={status} />
        <Select
          hook="model"
          label="Model"
          current={status.model}
          choices={status.models}
          disabled={!chat.isOpen.value}
          choose={(model) => void chat.setModel(model)}
        />
        <Mode chat={chat} status={status} />
      </div>
      <Place status={status} />
    </header>
  );
}

function tone(state: DaemonConnection["state"]): "live" | "reconnecting" | "connecting" {
  if (state === "live") return "live";
  return state === "lost" || state === "failed" || state === "reconnecting"
    ? "reconnecting"
    : "connecting";
}

/** The machine of the daemon may be another one than this, so its name comes first. */
function Place({ status: { place, managed } }: { status: ChatStatus }) {
  if (place === undefined) return null;
  return (
    <details class="place quiet" data-place>
      <summary>
        Runs on{" "}
        <strong>{place.machine === undefined ? "its machine" : visible(place.machine)}</strong> in{" "}
        <bdi class="mono">{visible(place.workspace.daemonPath)}</bdi>
      </summary>
      {visible(place.locality.join(" "))}
      {managed && " · started from here, ends with the companion"}
      {place.version !== undefined && ` · version ${visible(place.version)}`}
    </details>
  );
}

function Usage({ status: { usage } }: { status: ChatStatus }) {
  if (usage === undefined || usage.size === 0) return null;
  const share = Math.round((100 * usage.used) / usage.size);
  const words = `${count(usage.used, "token")} of ${usage.size.toLocaleString("en")}`;
  return (
    <span class="usage quiet" data-usage title={words}>
      <meter
        aria-label={`Used of the model’s context window: ${words}`}
        min={0}
        max={usage.size}
        high={usage.size * 0.85}
        value={usage.used}
      />
      {share}%
    </span>
  );
}

/**
 * The mode is always there: whether the agent asks decides what the person has to watch. That it may not
 * is all that is said, because the mode may be one that nobody here knows.
 */
function Mode({ chat, status }: { chat: Chat; status: ChatStatus }) {
  const { mode, modes, unasking = false, connection } = status;
  const name = mode === undefined ? "mode not known" : visible(mode);
  return (
    <span class="mode" data-unasking={unasking}>
      {modes.length === 0 && (mode !== undefined || connection.state === "live") && (
        <span data-mode={mode ?? ""} title={MODE}>
          <span class="visually-hidden">{MODE}: </span>
          {name}
        </span>
      )}
      <Select
        hook="mode"
        label={MODE}
        current={mode}
        choices={modes}
        disabled={!chat.isOpen.value}
        choose={(wanted) => void chat.setMode(wanted)}
      />
      {unasking && (
        <strong
          class="badge unasking"
          title="In this mode the agent may write files before you see what it changes"
        >
          may not ask
        </strong>
      )}
    </span>
  );
}

interface SelectProps {
  hook: "model" | "mode";
  label: string;
  current: string | undefined;
  choices: readonly NamedChoice[];
  disabled: boolean;
  choose: (id: string) => void;
}

function Select({ hook, label, current, choices, disabled, choose }: SelectProps) {
  if (choices.length === 0) return null;
  const known = choices.some(({ id }) => id === current);
  return (
    <select
      class="select"
      {...{ [`data-${hook}`]: "" }}
      aria-label={label}
      title={label}
      value={current ?? ""}
      disabled={disabled}
      onChange={(event) => {
        const wanted = event.currentTarget.value;
        // It keeps showing the current value, and changes when the daemon confirms the new one.
        event.currentTarget.value = current ?? "";
        choose(wanted);
      }}
    >
      {!known && <option value={current ?? ""}>{visible(current ?? label)}</option>}
      {choices.map(({ id, name }) => (
        <option key={id} value={id}>
          {visible(name)}
        </option>
      ))}
    </select>
  );
}
