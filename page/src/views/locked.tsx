/** Shown in a tab without a valid key: how to get one. */

import { CopyButton } from "./copy-button";

export function Locked({ message }: { message?: string }) {
  return (
    <>
      <header class="bar">
        <h1 class="brand">Outrigger</h1>
      </header>
      <main class="locked">
        <h2>This tab needs a fresh link</h2>
        {message && (
          <p class="refusal" role="alert">
            {message}
          </p>
        )}
        <p>
          A link opens one tab, once, within ten minutes. If this page is open in another tab, go on
          there. Otherwise run this in the folder of your project, and open the link that it prints:
        </p>
        <p class="command">
          <code>outrigger url</code>
          <CopyButton text="outrigger url" label="Copy" name="copy-command" />
        </p>
      </main>
    </>
  );
}
