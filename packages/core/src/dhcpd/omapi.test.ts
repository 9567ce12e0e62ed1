import { expect, test } from "vitest";
import { renderOmapiKey } from "./omapi.js";
import { renderDhcpd } from "./dhcpd-file.js";

const EMPTY = { sharedNetworks: [], carriers: [], hosts: [], failovers: [], interfaces: [], warnings: [] };

test("OMAPI is off unless it is asked for, and the secret stands in the key file only", () => {
  expect(renderDhcpd(EMPTY)).not.toContain("omapi");
  const text = renderDhcpd(EMPTY, { port: 7911, keyFile: '/var/lib/a "b"/omapi.key' });
  expect(text).toContain('include "/var/lib/a \\042b\\042/omapi.key";\nomapi-port 7911;\nomapi-key berth-omapi;\n');
  const secret = `${"A".repeat(43)}=`;
  expect(renderOmapiKey(secret)).toBe(`key berth-omapi {\n  algorithm hmac-sha256;\n  secret "${secret}";\n}\n`);
  expect(() => renderOmapiKey('x"; } include "/etc/passwd')).toThrow("base64");
});
