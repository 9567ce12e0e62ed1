import { isAbsolute } from "node:path";
import { API_PORT } from "@berth/core";
import { environmentFailure } from "../cli-failure.js";

export const DEFAULT_URL = `http://127.0.0.1:${API_PORT}`;

/** Where the coordinator's API is: a TCP address, or a unix socket. */
export type ApiTarget =
  | { readonly kind: "tcp"; readonly text: string; readonly url: URL }
  | { readonly kind: "unix"; readonly text: string; readonly socketPath: string };

/** Reads `BERTH_URL`: `http://HOST:PORT`, `https://HOST:PORT` or `unix:/PATH`. */
export function parseApiTarget(text: string): ApiTarget {
  if (text.startsWith("unix:")) {
    const socketPath = text.slice("unix:".length).replace(/^\/\/(?=\/)/, "");
    if (!isAbsolute(socketPath)) throw malformed(text);
    return { kind: "unix", text, socketPath };
  }
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) throw malformed(text);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "" || url.username !== "") throw malformed(text);
  return { kind: "tcp", text, url };
}

function malformed(text: string) {
  return environmentFailure({
    code: "url-malformed",
    at: "BERTH_URL",
    message: `'${text}' is not where a coordinator can be`,
    remedy: "set it to http://HOST:PORT, https://HOST:PORT or unix:/PATH, without anything after it",
  });
}
