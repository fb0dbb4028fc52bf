/** Something that belongs to a message or to the output of a tool, and is not text. */

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { count } from "../text/format";
import { visible, visibleLines } from "../text/visible";
import { shownAs } from "./attachment";
import { LazyDetails } from "./lazy-details";
import type { Attached } from "./wire";

export function AttachmentView({ attached }: { attached: Attached }) {
  const shown = useMemo(() => shownAs(attached), [attached]);
  switch (shown.as) {
    case "picture":
      return <Picture source={shown.source} text={attached.text} />;
    case "link":
      return (
        <p class="attachment" data-attachment="link">
          {shown.name !== undefined && `${shown.name} `}
          {shown.href === undefined ? (
            <Address uri={shown.uri} />
          ) : (
            <a class="mono" href={shown.href} target="_blank" rel="noopener noreferrer">
              <bdi>{visible(shown.href)}</bdi>
            </a>
          )}
        </p>
      );
    case "file":
      return <File uri={shown.uri} content={shown.content} />;
    case "line":
      return <Line text={attached.text} />;
  }
}

/** An address that this page does not open. The path of a file is one of the daemon. */
function Address({ uri }: { uri: string }) {
  return (
    <>
      <bdi class="mono">{uri}</bdi>
      {uri.startsWith("file:") && <span class="quiet"> (daemon’s)</span>}
    </>
  );
}

/** The line that whoever shows only text would show. */
function Line({ text }: { text: string }) {
  return (
    <p class="attachment" data-attachment="line">
      {visible(text)}
    </p>
  );
}

/** A picture that the browser cannot read is its line of text. */
function Picture({ source, text }: { source: string; text: string }) {
  const broken = useSignal(false);
  if (broken.value) return <Line text={text} />;
  return (
    <img
      class="picture"
      data-attachment="picture"
      src={source}
      alt={visible(text)}
      decoding="async"
      onError={() => {
        broken.value = true;
      }}
    />
  );
}

function File({ uri, content }: { uri: string; content: string }) {
  const summary = (
    <span data-attachment="file">
      File <Address uri={uri} />, {count(content.split("\n").length, "line")}
    </span>
  );
  return (
    <LazyDetails summary={summary} open={false}>
      <pre class="output">{visibleLines(content)}</pre>
    </LazyDetails>
  );
}
