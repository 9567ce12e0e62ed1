import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/**
 * What HTTP itself costs on this machine: reads a JSON body and answers 201 with as many octets as an enrollment does, and does nothing else: no token, no schema, no
 * ledger, no disk. Tells its URL on stdout.
 */
const ANSWER_OCTETS = 640;
const answer = JSON.stringify({ text: "x".repeat(ANSWER_OCTETS) });
const headers = { "content-type": "application/json", "content-length": String(answer.length) };

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    JSON.parse(body);
    response.writeHead(201, headers).end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}\n`);
});
process.once("SIGTERM", () => process.exit(0));
