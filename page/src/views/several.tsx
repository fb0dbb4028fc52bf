/** The dialog that decides on several proposals at once, after a summary. */

import { useEffect, useRef } from "preact/hooks";
import { agentsOf } from "../review/several";
import type { App } from "../state/app";
import { count } from "../text/format";
import { relativePath, visible } from "../text/visible";
import { Lines } from "./lines";

export function SeveralDialog({ app }: { app: App }) {
  const { several } = app.reviews;
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = several.all.value !== undefined;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  const busy = several.deciding.value;
  useEffect(() => {
    if (!busy) return undefined;
    // Not on the dialog: the button that was pressed is disabled then, and nothing has the focus.
    const stay = (event: KeyboardEvent) => {
      if (event.key === "Escape") event.preventDefault();
    };
    addEventListener("keydown", stay);
    return () => removeEventListener("keydown", stay);
  }, [busy]);
  return (
    <dialog
      ref={dialog}
      class="help several"
      aria-labelledby="several-title"
      onClose={({ currentTarget }) => {
        several.close();
        // Closed by other means than Escape while it decides.
        if (several.all.value !== undefined) currentTarget.showModal();
      }}
    >
      {isOpen && <Summary app={app} />}
    </dialog>
  );
}

function Summary({ app }: { app: App }) {
  const { several } = app.reviews;
  const { proposals, acceptable, left, added, removed } = several.choice.value;
  const name = (path: string) => visible(relativePath(path, app.roots.value));
  const busy = several.deciding.value;
  return (
    <>
      <h2 id="several-title">Decide on {count(proposals.length, "proposal")}</h2>
      <Agents app={app} />
      <p data-total={`${added},${removed}`}>
        {count(new Set(proposals.map(({ path }) => path)).size, "file")}, {added} lines added and{" "}
        {removed} removed
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element has to be reachable with the keyboard. */}
      <ul class="rows several-files" tabIndex={0} aria-label="Files">
        {acceptable.map((proposal) => (
          <li key={proposal.id} class="row" data-several={proposal.id}>
            <bdi class="mono">{name(proposal.path)}</bdi>
            <Lines proposal={proposal} as="span" />
          </li>
        ))}
        {left.map(({ proposal, why }) => (
          <li key={proposal.id} class="row" data-several-left={proposal.id}>
            <bdi class="mono">{name(proposal.path)}</bdi>
            <Lines proposal={proposal} as="span" />
            <span class="obstacle">stays open if you accept: {visible(why)}</span>
          </li>
        ))}
      </ul>
      {several.failures.value.map(({ proposal, message }) => (
        <p key={proposal.id} class="refusal" role="alert" data-notice="several-failed">
          {name(proposal.path)}: {visible(message)}
        </p>
      ))}
      <p class="actions" data-settling={!several.isSettled.value}>
        <button
          type="button"
          class="button"
          data-act="several-close"
          disabled={busy}
          onClick={() => several.close()}
        >
          Close
        </button>
        <span class="grow" />
        <button
          type="button"
          class="button reject"
          data-act="reject-all"
          data-decides
          disabled={busy || proposals.length === 0}
          onClick={() => void app.reviews.rejectAll()}
        >
          Reject {proposals.length}
        </button>
        <button
          type="button"
          class="button accept"
          data-act="accept-all"
          data-decides
          disabled={busy || acceptable.length === 0}
          onClick={() => void app.reviews.acceptAll()}
        >
          Accept {acceptable.length}
        </button>
      </p>
    </>
  );
}

function Agents({ app }: { app: App }) {
  const { several } = app.reviews;
  const agents = agentsOf(several.all.value ?? []);
  if (agents.length < 2) return null;
  return (
    <label class="several-agent">
      Of{" "}
      <select
        class="select"
        data-several-agent
        value={several.session.value ?? ""}
        onChange={({ currentTarget: { value } }) => {
          several.session.value = value === "" ? undefined : value;
        }}
      >
        <option value="">all agents</option>
        {agents.map(({ session, who }) => (
          <option key={session} value={session}>
            {visible(who)}
          </option>
        ))}
      </select>
    </label>
  );
}
