import type { BootChoices } from "./config.js";
import { plain, type Branch, type Condition, type Statement, type Test } from "./statement.js";

/** Option 175, by which iPXE tells its features; dhcpd does not know it by itself. */
export const IPXE_FEATURES = "berth-ipxe";

/** RFC 4578 §2.1 and the IANA registry "Processor Architecture Types". */
const ARCHITECTURES = { bios: [0], uefiX64: [7, 9], uefiArm64: [11], httpX64: 16, httpArm64: 19 } as const;

const VENDOR_CLASS = "vendor-class-identifier";

/**
 * Who gets which file. iPXE comes first, because it tells the architecture of the firmware under it as well; HTTP boot before TFTP, because its
 * architectures are numbers of their own.
 */
export function* bootStatements(boot: BootChoices): Generator<Statement> {
  yield plain("next-server", boot.nextServer);
  const branches = [
    ...choice(boot.ipxe, isIpxe, fileOf),
    ...choice(boot.onie, { all: [isOnie] }, (url) => [plain("option", "default-url", { text: url })]),
    ...choice(boot.httpX64, isHttp(ARCHITECTURES.httpX64), httpOffer),
    ...choice(boot.httpArm64, isHttp(ARCHITECTURES.httpArm64), httpOffer),
    ...choice(boot.uefiX64, architectureIs(ARCHITECTURES.uefiX64), fileOf),
    ...choice(boot.uefiArm64, architectureIs(ARCHITECTURES.uefiArm64), fileOf),
    ...choice(boot.bios, architectureIs(ARCHITECTURES.bios), fileOf),
    ...choice(boot.bios, isOldPxe, fileOf),
  ];
  if (branches.length > 0) yield { kind: "choice", branches };
}

function choice(file: string | null, when: Condition, body: (file: string) => Statement[]): Branch[] {
  return file === null ? [] : [{ when, body: body(file) }];
}

function fileOf(file: string): Statement[] {
  return [plain("filename", { text: file })];
}

/** Firmware takes an offer for HTTP boot only if it carries the vendor class HTTPClient (UEFI 2.10 §24.7.3.1), asked for or not. */
function httpOffer(url: string): Statement[] {
  return [
    plain("option", VENDOR_CLASS, { text: "HTTPClient" }),
    plain("option", "dhcp-parameter-request-list", { option: "dhcp-parameter-request-list", octet: 60 }),
    ...fileOf(url),
  ];
}

function begins(option: string, text: string): Test {
  return { kind: "text-at", option, from: 0, text };
}

function isArchitecture(value: number): Test {
  return { kind: "number", option: "pxe-system-type", value };
}

function architectureIs(values: readonly number[]): Condition {
  return { any: values.map(isArchitecture) };
}

function isHttp(architecture: number): Condition {
  return { all: [begins(VENDOR_CLASS, "HTTPClient"), isArchitecture(architecture)] };
}

/** The user class with and without the length octet of RFC 3004 §4: iPXE leaves it out, its neighbours do not. */
const isIpxe: Condition = {
  any: [
    { kind: "exists", option: IPXE_FEATURES },
    { kind: "text-at", option: "user-class", from: 0, text: "iPXE" },
    { kind: "text-at", option: "user-class", from: 1, text: "iPXE" },
  ],
};

/** ONIE design, "DHCP vendor class": `onie_vendor:` and the platform. */
const isOnie = begins(VENDOR_CLASS, "onie_vendor");

/** PXE of the first years sends no architecture. */
const isOldPxe: Condition = { all: [begins(VENDOR_CLASS, "PXEClient"), { kind: "not-exists", option: "pxe-system-type" }] };
