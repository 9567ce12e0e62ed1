import { assert } from "../../problem.js";

/** Texts that come again and again, each kept once and for ever: for a few domains, not for what callers make up. */
export class Interned {
  private readonly numbers = new Map<string, number>();
  private readonly texts: string[] = [];

  numberOf(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.push(text) - 1;
    this.numbers.set(text, number);
    return number;
  }

  textOf(number: number): string {
    const text = this.texts[number];
    assert(text !== undefined, `no text ${number}`);
    return text;
  }
}
