import { styleText } from "node:util";

/** Tells the story on the terminal: what is going on, what was seen, and how to see it oneself. */
export class Narrator {
  #write: (text: string) => void;
  readonly #animate: boolean;
  readonly #started = performance.now();
  #ticker: NodeJS.Timeout | null = null;

  /** With `animate` a line that takes long shows its seconds; elsewhere it is printed once when it is over. */
  constructor(write: (text: string) => void, animate: boolean) {
    this.#write = write;
    this.#animate = animate;
  }

  say(line: string): void {
    this.#write(`${line}\n`);
  }

  heading(line: string): void {
    this.#write(`\n${styleText("bold", line)}\n`);
  }

  /** One step of the preparations. */
  step(line: string): void {
    this.#write(`  ${line}\n`);
  }

  /** Runs something with a running clock beside its title, and says how it ended. */
  async fact(
    title: string,
    place: { readonly number: number; readonly of: number },
    observe: () => Promise<string>,
  ): Promise<boolean> {
    const head = `${place.number}/${place.of} ${title}`;
    const began = performance.now();
    this.#tick(head, began);
    try {
      const seen = await observe();
      this.#clear();
      this.#write(`${styleText("green", "✔")} ${styleText("bold", head)} (${seconds(began)})\n    seen:  ${seen}\n`);
      return true;
    } catch (error) {
      this.#clear();
      const reason = error instanceof Error ? error.message : String(error);
      this.#write(`${styleText("red", "✘")} ${styleText("bold", head)} (${seconds(began)})\n    not observed: ${reason}\n`);
      return false;
    }
  }

  /** The last word: whatever is still under way says nothing after it. */
  end(line: string): void {
    this.#clear();
    this.step(line);
    this.#write = () => undefined;
  }

  command(line: string): void {
    this.#write(`    look:  ${styleText("cyan", line)}\n`);
  }

  /** Seconds since the story began. */
  elapsed(): string {
    return seconds(this.#started);
  }

  #tick(head: string, began: number): void {
    if (!this.#animate) return;
    const draw = (): void => this.#write(`\r\x1b[K… ${head} (${seconds(began)})`);
    draw();
    this.#ticker = setInterval(draw, 500);
  }

  #clear(): void {
    if (this.#ticker === null) return;
    clearInterval(this.#ticker);
    this.#ticker = null;
    this.#write("\r\x1b[K");
  }
}

function seconds(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}
