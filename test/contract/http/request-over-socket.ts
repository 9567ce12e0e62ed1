import { request } from "node:http";

/** One GET over a unix socket. */
export function requestOverSocket(
  socketPath: string,
  path: string,
  token: string | null,
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const asked = request({ socketPath, path, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as unknown }));
    });
    asked.on("error", reject);
    asked.end();
  });
}
