/** The frame around every view: name, navigation, connection, theme, help. */

import type { ComponentChildren } from "preact";
import { editorBundle } from "../load-editor";
import type { App, Connection, View } from "../state/app";
import { nextTheme, theme } from "../state/theme";
import { splitPath, visible } from "../text/visible";
import { Faults } from "./faults";
import { Help } from "./help";
import { LiveView } from "./live";
import { Locked } from "./locked";
import { EditorUnavailable } from "./placeholders";
import { ReviewView } from "./review";

export function Shell({ app }: { app: App }) {
  if (app.connection.value === "locked") return <Locked />;
  return (
    <>
      <header class="bar">
        <h1 class="brand">Outrigger</h1>
        <Folder app={app} />
        <nav class="tabs" aria-label="Views">
          <Tab app={app} view="review">
            Review
            <Count number={app.proposals.value.length} words="pending" />
          </Tab>
          <Tab app={app} view="live">
            Live
          </Tab>
          <Tab app={app} view="chat">
            Chat
            <Count number={app.chat.waiting.value} words="pending" />
          </Tab>
        </nav>
        <span class="grow" />
        <ConnectionState app={app} />
        <button
          type="button"
          class="button plain"
          data-act="theme"
          aria-label={`Theme: ${theme.value}. Change it`}
          title={`Theme: ${theme.value}`}
          onClick={nextTheme}
        >
          <span class="theme-icon" />
          {{ auto: "Auto", light: "Light", dark: "Dark" }[theme.value]}
        </button>
        <button
          type="button"
          class="button plain"
          data-act="help"
          aria-label="Keyboard help"
          title="Keyboard help (?)"
          onClick={() => {
            app.help.value = true;
          }}
        >
          ?
        </button>
      </header>
      <Restarted app={app} />
      <Faults app={app} />
      <main class="stage" data-view={app.view.value} aria-busy={app.isLoading.value}>
        {app.view.value === "review" && <ReviewView app={app} />}
        {app.view.value === "live" && <LiveView app={app} />}
        {app.view.value === "chat" && <Chat app={app} />}
      </main>
      <p class="visually-hidden" role="status" data-announce>
        {app.announcement.value}
      </p>
      <Help app={app} />
    </>
  );
}

function Chat({ app }: { app: App }) {
  const bundle = editorBundle.value;
  if (typeof bundle === "object") return <bundle.ChatView app={app} />;
  return bundle === undefined ? null : <EditorUnavailable />;
}

function Folder({ app }: { app: App }) {
  const roots = app.roots.value;
  const [first] = roots;
  if (first === undefined) return <span class="folder" />;
  const more = roots.length > 1 ? ` +${roots.length - 1}` : "";
  return (
    <span class="folder" title={roots.map(visible).join("\n")}>
      <bdi>{splitPath(first).name}</bdi>
      {more}
    </span>
  );
}

function Tab({ app, view, children }: { app: App; view: View; children: ComponentChildren }) {
  return (
    <button
      type="button"
      class="tab"
      data-nav={view}
      aria-current={app.view.value === view ? "page" : undefined}
      onClick={() => {
        app.view.value = view;
      }}
    >
      {children}
    </button>
  );
}

function Count({ number, words }: { number: number; words: string }) {
  if (number === 0) return null;
  return (
    <span class="count">
      {number}
      <span class="visually-hidden"> {words}</span>
    </span>
  );
}

const CONNECTION_WORDS: Record<Connection, string> = {
  connecting: "connecting…",
  live: "connected",
  reconnecting: "reconnecting…",
  locked: "locked",
};

function ConnectionState({ app }: { app: App }) {
  const connection = app.connection.value;
  // A companion that was stopped may be started again, so the page keeps trying to connect.
  const isStopped = connection === "reconnecting" && app.stopped.value;
  return (
    <span class="state" role="status" data-connection={connection}>
      {isStopped ? "stopped" : CONNECTION_WORDS[connection]}
    </span>
  );
}

function Restarted({ app }: { app: App }) {
  if (!app.restarted.value) return null;
  return (
    <p class="notice" data-notice="restarted">
      <span>The companion was restarted. This page is up to date again.</span>
      <button
        type="button"
        class="button small"
        data-act="dismiss"
        onClick={() => {
          app.restarted.value = false;
        }}
      >
        Dismiss
      </button>
    </p>
  );
}
