/** How things stand: the connection, where the daemon works, the model and what it may do. */

import { count } from "../text/format";
import { visible } from "../text/visible";
import type { Chat } from "./chat";
import type { Choice, Connection, Status } from "./wire";

const STATES: Record<Connection["state"], string> = {
  off: "not connected",
  starting: "starting a daemon…",
  connecting: "connecting…",
  catchingUp: "catching up…",
  live: "live",
  reconnecting: "reconnecting…",
  lost: "disconnected",
  failed: "no connection",
};

export function StatusBar({ chat, list }: { chat: Chat; list: () => void }) {
  const status = chat.status.value;
  const { state } = status.connection;
  return (
    <header class="talk-head">
      <div class="talk-line">
        <button type="button" class="button plain back" data-act="conversations" onClick={list}>
          Conversations
        </button>
        <h2 class="talk-title">
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
        <Select
          hook="mode"
          label="What the agent may do without asking"
          current={status.mode}
          choices={status.modes}
          disabled={!chat.isOpen.value}
          choose={(mode) => void chat.setMode(mode)}
        />
      </div>
      <Place status={status} />
    </header>
  );
}

function tone(state: Connection["state"]): "live" | "reconnecting" | "connecting" {
  if (state === "live") return "live";
  return state === "lost" || state === "failed" || state === "reconnecting"
    ? "reconnecting"
    : "connecting";
}

/** Nothing of the daemon's is implied to be here. */
function Place({ status: { place, managed } }: { status: Status }) {
  if (place === undefined) return null;
  return (
    <p class="place quiet" data-place>
      Runs on{" "}
      <strong>{place.machine === undefined ? "its machine" : visible(place.machine)}</strong> in{" "}
      <bdi class="mono">{visible(place.workspace.daemonPath)}</bdi>
      {" · files, MCP servers, skills and credentials are the daemon’s"}
      {managed && " · started from here, ends with the companion"}
      {place.version !== undefined && ` · version ${visible(place.version)}`}
    </p>
  );
}

function Usage({ status: { usage } }: { status: Status }) {
  if (usage === undefined || usage.size === 0) return null;
  const share = Math.round((100 * usage.used) / usage.size);
  const words = `${count(usage.used, "token")} of ${usage.size.toLocaleString("en")}`;
  return (
    <span class="usage quiet" data-usage title={words}>
      <meter
        aria-label={`Used of the model’s window: ${words}`}
        min={0}
        max={usage.size}
        high={usage.size * 0.85}
        value={usage.used}
      />
      {share}%
    </span>
  );
}

interface SelectProps {
  hook: "model" | "mode";
  label: string;
  current: string | undefined;
  choices: readonly Choice[];
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
        // It shows what is true, and changes when the daemon has changed it.
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
