/** Earlier prompts, browsed with the arrow keys. */
export class PromptHistory {
  /** The index of the prompt that is shown; undefined while the person is not browsing. */
  private at: number | undefined;

  constructor(private readonly prompts: () => readonly string[]) {}

  /** The earlier (-1) or later (1) prompt. Undefined if there is none, or if `shown` is a text of its own. */
  go(step: -1 | 1, shown: string): string | undefined {
    const prompts = this.prompts();
    const at = this.at ?? prompts.length;
    if (shown !== "" && shown !== prompts[at]) return undefined;
    const next = at + step;
    if (next < 0 || next > prompts.length) return undefined;
    this.at = next === prompts.length ? undefined : next;
    return prompts[next] ?? "";
  }

  leave(): void {
    this.at = undefined;
  }
}
