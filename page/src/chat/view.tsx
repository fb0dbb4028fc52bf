/** The chat: the list of conversations, and beside it the current one. */

import { useSignal } from "@preact/signals";
import type { App } from "../state/app";
import { Composer } from "./composer";
import { ConnectionProblem } from "./connection-problem";
import { ConversationList } from "./conversation-list";
import { NoChat } from "./no-chat";
import { Requests } from "./requests";
import { StatusBar } from "./status-bar";
import { TranscriptView } from "./transcript-view";

export function ChatView({ app }: { app: App }) {
  // On a phone either the list or the conversation is on the screen.
  const pane = useSignal<"list" | "conversation">("conversation");
  const { chat } = app;
  if (app.companion.value === undefined) return null;
  if (!app.companion.value.chat) return <NoChat why={app.companion.value.whyNoChat} />;
  const show = (which: "list" | "conversation") => () => {
    pane.value = which;
  };
  return (
    <div class="chat" data-pane={pane.value} data-chat-state={chat.state.value}>
      <ConversationList chat={chat} chosen={show("conversation")} />
      <section class="conversation" aria-label="Conversation">
        <StatusBar chat={chat} list={show("list")} />
        <ConnectionProblem chat={chat} />
        <TranscriptView chat={chat} />
        <Requests app={app} />
        <Composer app={app} />
      </section>
    </div>
  );
}
