import { Running } from "./running.js";
import { ipBatch } from "./namespaces.js";
import type { Programs } from "./programs.js";

export interface Impairment {
  /** Share of the frames lost in each direction, 0..100. */
  readonly lossPercent?: number;
  /** Added in each direction. */
  readonly delayMs?: number;
  /** The same seed loses the same frames of the same traffic; 1 unless told. */
  readonly seed?: number;
}

export interface PortPlace {
  /** The namespace with the bridges. */
  readonly switchNamespace: string;
  readonly bridge: string;
  /** The switch's end of the cable. */
  readonly switchInterface: string;
  readonly programs: Programs;
  /** Of the program that stands in for a bad cable. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A host's interface and the cable from it to its link's switch. */
export class Port {
  readonly interfaceName: string;
  readonly mac: string;
  readonly #place: PortPlace;
  #impair: Running | null = null;
  #answers = 0;
  #isCut = false;

  constructor(interfaceName: string, mac: string, place: PortPlace) {
    this.interfaceName = interfaceName;
    this.mac = mac;
    this.#place = place;
  }

  /** Pulls the cable: the host sees its carrier go. */
  async unplug(): Promise<void> {
    await this.#switch(`link set ${this.#place.switchInterface} down`);
  }

  /** Puts the cable back in. */
  async plug(): Promise<void> {
    await this.#switch(`link set ${this.#place.switchInterface} up`);
  }

  /** Loses every frame while the carrier stays, as when the path breaks further on; lasts over reboots of the host. */
  async cut(): Promise<void> {
    this.#isCut = true;
    await this.#switch(`link set ${this.#bridgePort} nomaster`);
  }

  /** Ends {@link cut}. */
  async join(): Promise<void> {
    this.#isCut = false;
    await this.#switch(`link set ${this.#bridgePort} master ${this.#place.bridge}`);
  }

  /** Makes the cable lose and delay frames from now on, both ways; `{}` makes it good again. The change itself may lose a frame. */
  async impair(impairment: Impairment): Promise<void> {
    const lossPermille = Math.round((impairment.lossPercent ?? 0) * 10);
    const delayMs = Math.round(impairment.delayMs ?? 0);
    if (lossPermille < 0 || lossPermille > 1000 || delayMs < 0) throw new Error("loss is 0..100 percent, delay 0 ms or more");
    if (lossPermille === 0 && delayMs === 0) {
      await this.#repair();
      return;
    }
    this.#impair ??= await this.#insert(impairment.seed ?? 1);
    this.#impair.child.stdin?.write(`${lossPermille} ${delayMs}\n`);
    const running = this.#impair;
    this.#answers++;
    await waitForAnswers(running, this.#answers);
  }

  get #spliceHost(): string {
    return `h${this.#place.switchInterface}`;
  }

  get #spliceBridge(): string {
    return `b${this.#place.switchInterface}`;
  }

  get #bridgePort(): string {
    return this.#impair === null ? this.#place.switchInterface : this.#spliceBridge;
  }

  /** Cuts the cable in two and lets a program carry the frames across. */
  async #insert(seed: number): Promise<Running> {
    const { switchNamespace, switchInterface, bridge, programs } = this.#place;
    const program = await programs.compiled("impair");
    await ipBatch(switchNamespace, [
      `link add ${this.#spliceHost} type veth peer name ${this.#spliceBridge}`,
      `link set ${this.#spliceHost} up`,
      `link set ${switchInterface} nomaster`,
      `link set ${this.#spliceBridge} ${this.#isCut ? "" : `master ${bridge}`} up`,
    ]);
    this.#answers = 0;
    const argv = ["ip", "netns", "exec", switchNamespace, program, switchInterface, this.#spliceHost, String(seed)] as const;
    return Running.start(argv, { env: this.#place.environment });
  }

  async #repair(): Promise<void> {
    const running = this.#impair;
    if (running === null) return;
    await running.stop({ signal: "SIGKILL" });
    this.#impair = null;
    await this.#switch(`link del ${this.#spliceHost}`);
    if (!this.#isCut) await this.join();
  }

  async #switch(...lines: string[]): Promise<void> {
    await ipBatch(this.#place.switchNamespace, lines);
  }
}

/** The program answers each setting with one line. */
async function waitForAnswers(running: Running, count: number): Promise<void> {
  while (running.lines.filter((line) => line === "set").length < count) {
    if (!running.isRunning) throw new Error(`impair ended: ${running.tail()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
