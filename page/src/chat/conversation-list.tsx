/** The list of conversations in this folder, to continue one or to start a new one. */

import { ago } from "../text/format";
import { visible } from "../text/visible";
import type { Chat } from "./chat";
import type { EarlierConversation, WhichConversation } from "./wire";

export function ConversationList({ chat, chosen }: { chat: Chat; chosen: () => void }) {
  const open = (which: WhichConversation) => {
    chosen();
    void chat.open(which);
  };
  return (
    <nav class="queue conversations" aria-label="Conversations">
      <div class="conversations-head">
        <h2 class="queue-title">Conversations</h2>
        <button type="button" class="button small" data-act="new-chat" onClick={() => open("new")}>
          New
        </button>
      </div>
      <ol>
        {chat.earlier.value.map((earlier) => (
          <li key={earlier.key}>
            <button
              type="button"
              class="item"
              data-earlier={earlier.key}
              aria-current={earlier.current ? "true" : undefined}
              onClick={() => (earlier.current ? chosen() : open({ earlier: earlier.key }))}
            >
              <span class="item-name">
                <bdi>{visible(earlier.title ?? "Without a title")}</bdi>
              </span>
              <span class="item-what">{earlier.busy && "busy"}</span>
              <span class="item-folder">{when(earlier)}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function when({ updatedAt }: EarlierConversation): string {
  const at = Date.parse(updatedAt ?? "");
  return Number.isNaN(at) ? "" : ago(at, Date.now());
}
