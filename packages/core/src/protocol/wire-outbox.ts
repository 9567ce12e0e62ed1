import type { IpAddress } from "../address/ip.js";
import type { WireAnswer } from "../wire/wire-answer.js";
import { WIRE_ANSWERS_PER_FRAME_MAX, type AgentMessage } from "./messages.js";

/** Answers on the wire that wait for the region, the newest of each address. `all` answers everything that the agent remembers. */
export class WireOutbox {
  private readonly all: () => readonly WireAnswer[];
  private readonly pending = new Map<IpAddress, WireAnswer>();

  constructor(all: () => readonly WireAnswer[]) {
    this.all = all;
  }

  add(answers: readonly WireAnswer[]): void {
    for (const answer of answers) this.pending.set(answer.address, answer);
  }

  /** A session begins: what another one was told may be lost. */
  open(): void {
    this.add(this.all());
  }

  /** The frame to send now; null when nothing waits. */
  next(): AgentMessage | null {
    if (this.pending.size === 0) return null;
    const answers: Extract<AgentMessage, { readonly type: "wire" }>["answers"] = [];
    for (const [address, answer] of this.pending) {
      if (answers.length === WIRE_ANSWERS_PER_FRAME_MAX) break;
      answers.push({ ...answer, hardwareAddresses: [...answer.hardwareAddresses] });
      this.pending.delete(address);
    }
    return { type: "wire", answers };
  }
}
