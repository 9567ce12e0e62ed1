import { describe, expect, it } from "vitest";
import { linkAt, subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import { compileDhcpd } from "./compile.js";
import { refusalOf } from "./dhcpd-refusal.js";
import { renderDhcpd } from "./dhcpd-file.js";

const PATH = "/var/lib/berth/dhcpd.conf";

function fileWith(snippet: string): string {
  const config = compileDhcpd(
    { subnets: [subnetOf({ mode: "static", dhcp: { snippet } })] },
    { links: [linkAt("eth0", 1, "192.168.50.1")] },
  );
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  return renderDhcpd(config.value);
}

/** As `dhcpd -t` says it, with its head and tail. */
function saying(line: number, message: string): string {
  return `Internet Systems Consortium DHCP Server 4.4.3-P1\n/x/dhcpd.conf.candidate line ${line}: ${message}\n  optoin x\n  ^\nConfiguration file errors encountered -- exiting\n\nIf you think you have received this message due to a bug\nexiting.\n`;
}

describe("what dhcpd -t says of our file", () => {
  const text = fileWith("option www-server 192.168.50.7;\noptoin x y;\n");
  const lineOf = (words: string): number => text.split("\n").findIndex((line) => line.includes(words)) + 1;

  it("is led back to the operator's own line", () => {
    expect(refusalOf(text, saying(lineOf("optoin"), "semicolon expected."), PATH)).toMatchObject({
      code: "snippet-refused",
      at: "subnet 192.168.50.0/24 snippet line 2",
      message: "dhcpd refuses the file: semicolon expected.",
    });
  });

  it("names the line of the file elsewhere", () => {
    for (const words of ["ping-check", "max-lease-time"])
      expect(refusalOf(text, saying(lineOf(words), "x"), PATH)).toMatchObject({
        code: "dhcpd-check-failed",
        at: `${PATH}:${lineOf(words)}`,
      });
    expect(refusalOf(text, saying(lineOf("# End of operator's lines") + 3, "x"), PATH).code).toBe("dhcpd-check-failed");
  });

  it("is told as it is without a line", () => {
    expect(
      refusalOf(text, "Internet Systems Consortium DHCP Server 4.4.3-P1\nCan't open /x: no such file\n\nexiting.\n", PATH),
    ).toMatchObject({
      at: PATH,
      message: "dhcpd refuses the file: Can't open /x: no such file",
    });
    expect(refusalOf(text, "", PATH).message).toBe("dhcpd refuses the file: without a word");
  });
});
