/** The frame around every view: name, navigation, connection, theme, help. */

import { editorBundle } from "../load-editor";
import type { App, Connection } from "../state/app";
import type { View } from "../state/navigation";
import { nextTheme, theme } from "../state/theme";
import { shellWord } from "../text/shell";
import { splitPath, visible } from "../text/visible";
import { CopyButton } from "./copy-button";
import { Faults } from "./faults";
import { Help } from "./help";
import { LiveView } from "./live";
import { Locked } from "./locked";
import { EditorUnavailable } from "./placeholders";
import { ReviewView } from "./review";

export function Shell({ app }: { app: App }) {
  const view = app.navigation.view.value;
  const bundle = editorBundle.value;
  if (app.connection.value === "locked") return <Locked />;
  return (
    <>
      <header class="bar">
        <h1 class="brand">Outrigger</h1>
        <Folder app={app} />
        <nav class="tabs" aria-label="Views">
          <Tab app={app} view="review" name="Review" count={app.proposals.value.length} />
          <Tab app={app} view="live" name="What agents see" short="Seen" />
          <Tab app={app} view="chat" name="Chat" count={app.chat.waiting.value} />
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
      <Stopped app={app} />
      <Faults app={app} />
      <main class="stage" data-view={view} aria-busy={app.isLoading.value}>
        {view === "review" && <ReviewView app={app} />}
        {view === "live" && <LiveView app={app} />}
        {view === "chat" && <Chat app={app} />}
      </main>
      <p class="visually-hidden" role="status" data-announce>
        {app.announcement.value}
      </p>
      <Help app={app} />
      {typeof bundle === "object" && <bundle.SeveralDialog app={app} />}
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

interface TabProps {
  app: App;
  view: View;
  name: string;
  /** The name where there is little room. */
  short?: string;
  count?: number;
}

function Tab({ app, view, name, short = name, count = 0 }: TabProps) {
  return (
    <button
      type="button"
      class="tab"
      data-nav={view}
      aria-current={app.navigation.view.value === view ? "page" : undefined}
      onClick={() => app.navigation.go({ view })}
    >
      {/* The attributes hold the room of the bold text, so that no tab moves when it is selected. */}
      <span class="tab-name" data-text={name}>
        {name}
      </span>
      <span class="tab-short" data-text={short}>
        {short}
      </span>
      {count > 0 && (
        <span class="count">
          {count}
          <span class="visually-hidden"> pending</span>
        </span>
      )}
    </button>
  );
}

const CONNECTION_WORDS: Record<Connection, string> = {
  connecting: "connecting…",
  live: "connected",
  reconnecting: "no connection, trying again…",
  stopped: "stopped",
  locked: "locked",
};

function ConnectionState({ app }: { app: App }) {
  const connection = app.connection.value;
  return (
    <span class="state" role="status" data-connection={connection}>
      {CONNECTION_WORDS[connection]}
    </span>
  );
}

/** After an orderly end: what happened, and how it is started again. */
function Stopped({ app }: { app: App }) {
  if (app.connection.value !== "stopped") return null;
  const { editor, roots } = app.companion.value?.status ?? { editor: "", roots: [] };
  const isInEditor = editor !== "" && editor !== "Outrigger";
  const command = `cd ${roots.map(shellWord)[0] ?? "."} && outrigger`;
  return (
    <div class="notice stopped" role="alert" data-notice="stopped">
      <p>
        Outrigger was stopped. What you see is how it was then, and nothing can be decided.{" "}
        {isInEditor
          ? `It starts again with ${visible(editor)}, or with`
          : "This page goes on by itself when you start it again:"}
      </p>
      <p class="command">
        <code>{visible(command)}</code>
        <CopyButton text={command} label="Copy" name="copy-command" />
      </p>
    </div>
  );
}

function Restarted({ app }: { app: App }) {
  if (!app.restarted.value) return null;
  return (
    <p class="notice" data-notice="restarted">
      <span>Outrigger was started again. This page is up to date.</span>
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
