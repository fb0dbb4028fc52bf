/** The entries of the conversation. It scrolls to the newest one, unless the person has scrolled up. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Beginning } from "./beginning";
import type { Chat } from "./chat";
import { EntryView } from "./entry";
import type { Group } from "./transcript";

/** How near to the end, in pixels, counts as being at the end. */
const NEAR = 40;

/** How many groups are drawn at once; after that, one more after each pause in milliseconds. */
const AT_ONCE = 2;
const PAUSE = 16;

export function TranscriptView({ chat }: { chat: Chat }) {
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const away = useSignal(false);
  useEffect(() => {
    const { current: frame } = scroller;
    if (frame === null || content.current === null) return undefined;
    let last = 0;
    const { hasBegun } = chat.transcript;
    const follow = () => {
      // Where a conversation begins is read from the top, also in a low window.
      if (!hasBegun.peek()) away.value = false;
      if (!away.peek()) frame.scrollTop = hasBegun.peek() ? frame.scrollHeight : 0;
    };
    const scrolled = () => {
      const rest = frame.scrollHeight - frame.scrollTop - frame.clientHeight;
      // New entries only make the content longer. If the position decreases, the person has scrolled up.
      if (rest <= NEAR) away.value = false;
      else if (frame.scrollTop < last) away.value = hasBegun.peek();
      last = frame.scrollTop;
    };
    const sizes = new ResizeObserver(follow);
    sizes.observe(content.current);
    sizes.observe(frame);
    frame.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      sizes.disconnect();
      frame.removeEventListener("scroll", scrolled);
    };
  }, [away, chat]);
  return (
    <div class="transcript-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element has to be reachable with the keyboard. */}
      <section class="transcript" ref={scroller} tabIndex={0} aria-label="Messages">
        <div class="transcript-content" ref={content}>
          <Beginning chat={chat} />
          <Groups key={chat.transcript.beginning.value} chat={chat} />
        </div>
      </section>
      {away.value && (
        <button
          type="button"
          class="button small to-end"
          data-act="to-end"
          onClick={() => {
            away.value = false;
            scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
          }}
        >
          To the newest
        </button>
      )}
    </div>
  );
}

/**
 * Draws the newest groups at once and the others one by one, so that a long conversation
 * opens quickly and one that arrives fast does not block the page.
 */
function Groups({ chat }: { chat: Chat }) {
  const { transcript } = chat;
  const drawn = useRef(new Set<number>());
  const turn = useSignal(0);
  const groups = transcript.groups.value;
  for (const { key } of groups.slice(-AT_ONCE)) drawn.current.add(key);
  const next = groups.findLast(({ key }) => !drawn.current.has(key))?.key;
  useEffect(() => {
    if (next === undefined) return undefined;
    const timer = setTimeout(() => {
      drawn.current.add(next);
      turn.value += 1;
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [next, turn.value, turn]);
  return (
    <>
      {transcript.shortened.value && (
        <p class="quiet line">Older entries of this conversation are not kept.</p>
      )}
      {groups
        .filter(({ key }) => drawn.current.has(key))
        .map((group) => (
          <GroupView key={group.key} group={group} chat={chat} />
        ))}
    </>
  );
}

function GroupView({ group, chat }: { group: Group; chat: Chat }) {
  return (
    <div class="group">
      {group.slots.value.map((slot) => (
        <EntryView key={slot.id} slot={slot} chat={chat} />
      ))}
    </div>
  );
}
