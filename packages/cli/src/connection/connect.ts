import type { CliPorts } from "../cli-ports.js";
import { environmentFailure } from "../cli-failure.js";
import { createApiClient, type ApiClient } from "./api-client.js";
import { DEFAULT_URL, parseApiTarget } from "./api-target.js";

/** The API that the environment names: BERTH_URL, BERTH_TOKEN or BERTH_TOKEN_FILE, BERTH_CA_FILE. Sends nothing yet. */
export async function connect(ports: CliPorts): Promise<ApiClient> {
  const target = parseApiTarget(set(ports.env.BERTH_URL) ?? DEFAULT_URL);
  const authorityFile = set(ports.env.BERTH_CA_FILE);
  const authority = authorityFile === null ? null : await readSetting(ports, "BERTH_CA_FILE", authorityFile);
  return createApiClient(target, { token: await readToken(ports), authority });
}

async function readToken(ports: CliPorts): Promise<string | null> {
  const direct = set(ports.env.BERTH_TOKEN);
  const file = set(ports.env.BERTH_TOKEN_FILE);
  const token = direct ?? (file === null ? null : (await readSetting(ports, "BERTH_TOKEN_FILE", file)).trim());
  if (token === null || /^[\x21-\x7e]+$/.test(token)) return token;
  throw environmentFailure({
    code: "token-malformed",
    at: direct === null ? (file ?? "") : "BERTH_TOKEN",
    message: "this is not a token: it must be one word of plain characters",
    remedy: "use the token that the coordinator wrote at its first start",
  });
}

async function readSetting(ports: CliPorts, variable: string, path: string): Promise<string> {
  try {
    return await ports.readFile(path);
  } catch (cause) {
    throw environmentFailure(
      {
        code: "file-unreadable",
        at: path,
        message: `failed to read the file that ${variable} names: ${cause instanceof Error ? cause.message : String(cause)}`,
        remedy: "check the path, and that this user may read it",
      },
      cause,
    );
  }
}

/** An empty variable is as good as none. */
function set(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}
