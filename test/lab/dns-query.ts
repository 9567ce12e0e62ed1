export interface DnsQuestion {
  readonly name: string;
  readonly type: string;
}

export interface DnsRecord {
  /** Absolute, with the last dot. */
  readonly name: string;
  readonly ttl: number;
  readonly type: string;
  readonly value: string;
}

export interface DnsAnswer {
  readonly question: DnsQuestion;
  /** As dig names it (`NOERROR`, `NXDOMAIN`, `REFUSED`...), or `TIMEOUT` when no server answered. */
  readonly rcode: string;
  /** `qr`, `aa`, `rd`, `ra`... */
  readonly flags: readonly string[];
  readonly answers: readonly DnsRecord[];
  /** The values of the records of the type that was asked for. */
  readonly values: readonly string[];
}

/** Reads what `dig +noall +comments +question +answer` printed for these questions; questions without an answer are `TIMEOUT`. */
export function parseDigAnswers(text: string, questions: readonly DnsQuestion[]): DnsAnswer[] {
  const blocks = text.split(";; Got answer:").slice(1).map(parseBlock);
  let at = 0;
  return questions.map((question) => {
    const block = blocks[at];
    if (block === undefined || !isSameQuestion(block, question)) {
      return { question, rcode: "TIMEOUT", flags: [], answers: [], values: [] };
    }
    at++;
    const values = block.answers.filter((a) => a.type === question.type.toUpperCase()).map((a) => a.value);
    return { question, rcode: block.rcode, flags: block.flags, answers: block.answers, values };
  });
}

interface Block {
  readonly rcode: string;
  readonly flags: string[];
  readonly asked: string;
  readonly answers: DnsRecord[];
}

function parseBlock(block: string): Block {
  const lines = block.split("\n");
  const question = lines.findIndex((line) => line.startsWith(";; QUESTION SECTION"));
  return {
    rcode: /status: ([A-Z0-9]+)/.exec(block)?.[1] ?? "UNREADABLE",
    flags: /^;; flags: ([a-z ]*);/m.exec(block)?.[1]?.trim().split(" ") ?? [],
    asked: question < 0 ? "" : (lines[question + 1] ?? ""),
    answers: lines.filter((line) => line !== "" && !line.startsWith(";")).map(parseRecord),
  };
}

function parseRecord(line: string): DnsRecord {
  const [name = "", ttl = "", , type = "", ...value] = line.split(/\s+/);
  return { name, ttl: Number(ttl), type, value: value.join(" ") };
}

function isSameQuestion(block: Block, question: DnsQuestion): boolean {
  const [name = "", , type = ""] = block.asked.replace(/^;/, "").split(/\s+/);
  const bare = (n: string): string => n.toLowerCase().replace(/\.$/, "");
  return bare(name) === bare(question.name) && type === question.type.toUpperCase();
}
