import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";

/**
 * The least that a durable allocation over HTTP can be on this machine, and what the bars of the SQLite rows were taken from: node:http and one row a request, all
 * requests of a turn in one commit. No token, no schema, no decision, no machine, no audit log. Tells its URL on stdout.
 */
const [, , folder = ""] = process.argv;
const sqlite = new SqliteDatabase(join(folder, "bare.sqlite"));
sqlite.pragma("journal_mode = WAL");
sqlite.pragma("synchronous = FULL");
sqlite.exec(
  "create table allocation (id text primary key, address blob not null unique, owner text not null unique, name text not null, at integer not null)",
);
const insert = sqlite.prepare("insert into allocation values (?, ?, ?, ?, ?)");
const [begin, commit] = [sqlite.prepare("begin immediate"), sqlite.prepare("commit")];

interface Waiting {
  readonly nic: string;
  readonly response: ServerResponse;
}

let waiting: Waiting[] = [];
let inserted = 0;

function commitAll(): void {
  const group = waiting;
  waiting = [];
  begin.run();
  const answers = group.map(({ nic }) => {
    const number = inserted++;
    const address = Buffer.alloc(16);
    address.writeUInt32BE(number, 12);
    const name = `ip-${number}.bench.example`;
    insert.run(`a-${number}`, address, `machine/${nic}`, name, Date.now());
    return JSON.stringify({ id: `a-${number}`, address: number, name });
  });
  commit.run();
  for (const [place, { response }] of group.entries()) {
    const text = answers[place] ?? "";
    response.writeHead(201, { "content-type": "application/json", "content-length": text.length }).end(text);
  }
}

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    const { nics } = JSON.parse(body) as { readonly nics: readonly string[] };
    if (waiting.push({ nic: nics[0] ?? "", response }) === 1) setImmediate(commitAll);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}\n`);
});
process.once("SIGTERM", () => process.exit(0));
