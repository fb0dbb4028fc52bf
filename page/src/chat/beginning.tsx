/** What stands where a conversation begins: where the agent works, and what to do. */

import { visible } from "../text/visible";
import type { Chat } from "./chat";

export function Beginning({ chat }: { chat: Chat }) {
  if (chat.transcript.hasBegun.value) return null;
  return (
    <>
      <Locality chat={chat} />
      {chat.state.value === "live" && (
        <p class="quiet line">
          Write what you want done. <kbd>@</kbd> attaches a file, <kbd>/</kbd> offers commands.
        </p>
      )}
    </>
  );
}

/**
 * The companion's sentences, whatever the connection does: a prompt can be sent before everything has
 * been caught up. They stand open, because somebody who does not know that the agent has nothing of
 * this browser does not look for it. Afterwards they are in the details of the status bar.
 */
function Locality({ chat }: { chat: Chat }) {
  const { place } = chat.status.value;
  if (place === undefined) return null;
  return (
    <div class="locality">
      {place.locality.map((sentence) => (
        <p key={sentence} data-locality>
          {visible(sentence)}
        </p>
      ))}
    </div>
  );
}
