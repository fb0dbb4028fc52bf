/** The chat: earlier conversations beside the one that is going on. */

import { useSignal } from "@preact/signals";
import type { App } from "../state/app";
import { Composer } from "./composer";
import { Conversation } from "./conversation";
import { Conversations } from "./conversations";
import { Requests } from "./requests";
import { StatusBar } from "./status";
import { Disabled, Trouble } from "./trouble";

export function ChatView({ app }: { app: App }) {
  // On a phone either the list or the conversation is on the screen.
  const pane = useSignal<"list" | "talk">("talk");
  const { chat } = app;
  if (app.situation.value === undefined) return null;
  if (!app.situation.value.chat) return <Disabled />;
  const show = (which: "list" | "talk") => () => {
    pane.value = which;
  };
  return (
    <div class="chat" data-pane={pane.value} data-chat-state={chat.state.value}>
      <Conversations chat={chat} chosen={show("talk")} />
      <section class="talk" aria-label="Conversation">
        <StatusBar chat={chat} list={show("list")} />
        <Trouble chat={chat} />
        <Conversation chat={chat} />
        <Requests app={app} />
        <Composer app={app} />
      </section>
    </div>
  );
}
