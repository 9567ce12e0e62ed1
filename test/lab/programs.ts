import { chmodSync, copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findTool, requireTools, type Tool } from "./require-tools.js";
import { runOrThrow } from "./run-program.js";

/** A file beside the helpers in `programs/`. */
export function programSource(name: string): string {
  return fileURLToPath(new URL(`programs/${name}`, import.meta.url));
}

/** The lab's own programs, in its run directory. */
export class Programs {
  readonly #directory: string;
  readonly #built = new Map<string, Promise<string>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Compiles `programs/NAME.c` once a lab and returns the path of the program. */
  compiled(name: string): Promise<string> {
    const started = this.#built.get(name);
    if (started !== undefined) return started;
    const built = this.#compile(name);
    this.#built.set(name, built);
    return built;
  }

  /**
   * A copy of a Debian daemon that may read and write the lab's files: AppArmor on a Debian machine attaches its profile by path and would
   * confine the installed one to /etc/dhcp and /var/lib/dhcp.
   */
  unconfined(tool: Tool): string {
    const path = join(this.#directory, tool);
    if (existsSync(path)) return path;
    requireTools([tool]);
    mkdirSync(this.#directory, { recursive: true });
    copyFileSync(findTool(tool) ?? tool, path);
    chmodSync(path, 0o755);
    return path;
  }

  /** An executable copy of a script in `programs/`. */
  script(name: string): string {
    const path = join(this.#directory, name);
    if (!existsSync(path)) {
      mkdirSync(this.#directory, { recursive: true });
      copyFileSync(programSource(name), path);
      chmodSync(path, 0o755);
    }
    return path;
  }

  async #compile(name: string): Promise<string> {
    requireTools(["gcc"]);
    mkdirSync(this.#directory, { recursive: true });
    const path = join(this.#directory, name);
    await runOrThrow(["gcc", "-O2", "-o", path, programSource(`${name}.c`)], { timeoutMs: 60_000 });
    return path;
  }
}
