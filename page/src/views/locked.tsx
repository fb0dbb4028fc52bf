/** Shown in a tab without a valid key: how to get one. */

import { CopyButton } from "./copy-button";

export function Locked({ message }: { message?: string }) {
  return (
    <main class="locked">
      <h1 class="brand">Outrigger</h1>
      <h2>This tab needs a fresh link</h2>
      {message && (
        <p class="refusal" role="alert">
          {message}
        </p>
      )}
      <p>Links work once and for a few minutes. In the folder of your project, run</p>
      <p class="command">
        <code>outrigger url</code>
        <CopyButton text="outrigger url" label="Copy" name="copy-command" />
      </p>
      <p>and open the link that it prints.</p>
    </main>
  );
}
