import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { goldenCase } from "../../golden-cases.js";
import { createLab, type Lab } from "../lab.js";
import { strangerMac, type RawDhcpClient, type Stranger } from "../raw-dhcp-client.js";
import { requireTools } from "../require-tools.js";
import { PATIENT, serveGolden } from "./rendered-rack.js";

type Firmware = Omit<Stranger, "mac">;

/** Option 60 as PXE firmware writes it, with and without its architecture. */
const pxe = (architecture: number): Firmware => ({
  architecture,
  vendorClass: `PXEClient:Arch:${architecture.toString().padStart(5, "0")}:UNDI:003016`,
});
const http = (architecture: number): Firmware => ({
  architecture,
  vendorClass: `HTTPClient:Arch:${architecture.toString().padStart(5, "0")}:UNDI:003001`,
});
const octets = (hex: string): Uint8Array => Buffer.from(hex, "hex");

const AT = "http://169.254.16.1:8080";
const FIRMWARE: readonly (readonly [name: string, firmware: Firmware, file: string | null])[] = [
  ["BIOS", pxe(0), "undionly.kpxe"],
  ["BIOS that names no architecture", { vendorClass: "PXEClient" }, "undionly.kpxe"],
  ["UEFI x86-64", pxe(7), "snponly-x64.efi"],
  ["UEFI x86-64 by its other number", pxe(9), "snponly-x64.efi"],
  ["UEFI that names several, its own first", { options: [[93, octets("00070006")]] }, "snponly-x64.efi"],
  ["UEFI arm64", pxe(11), "snponly-arm64.efi"],
  ["UEFI HTTP x86-64", http(16), `${AT}/shim-x64.efi`],
  ["UEFI HTTP arm64", http(19), `${AT}/shim-arm64.efi`],
  ["iPXE on BIOS by its user class", { ...pxe(0), userClass: "iPXE" }, `${AT}/boot.ipxe`],
  ["iPXE by a user class with its length", { ...pxe(7), userClass: "\u0004iPXE" }, `${AT}/boot.ipxe`],
  ["iPXE by its features", { ...pxe(7), options: [[175, octets("b105018086100eeb0303000001")]] }, `${AT}/boot.ipxe`],
  ["UEFI x86 of 32 bits, which has no file", pxe(6), null],
  ["an operating system", {}, null],
];

describe("which file a machine loads", () => {
  let lab: Lab;
  let clients: RawDhcpClient;

  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "gcc"]);
    lab = await createLab({ name: "served-boot.test" });
    const link = await lab.addLink("rack");
    const rack = await lab.addRack("rack", { backbone: null });
    await rack.connect(link, { addresses: ["192.168.50.1/24", "169.254.16.1/20"] });
    await serveGolden(rack, goldenCase("boot"));
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    clients = await crowd.rawDhcp();
  });
  afterAll(() => lab.close());

  it.each(FIRMWARE)("%s", async (name, firmware, file) => {
    const stranger = { mac: strangerMac(FIRMWARE.findIndex(([other]) => other === name)), ...firmware };
    const { offer, reply } = await clients.dora(stranger, PATIENT);
    for (const message of [offer, reply]) expect(message).toMatchObject({ nextServer: "169.254.16.1", bootFile: file });
    // Firmware for HTTP boot takes no offer without the echo, and everybody else none with it.
    const echo = offer?.options.get(60)?.toString("latin1") ?? null;
    expect(echo).toBe(firmware.vendorClass?.startsWith("HTTPClient") === true ? "HTTPClient" : null);
  });

  it("ONIE", async () => {
    const stranger = { mac: strangerMac(100), vendorClass: "onie_vendor:x86_64-accton_as7712_32x-r0", wanted: [114] };
    const { offer } = await clients.dora(stranger, PATIENT);
    expect(offer?.options.get(114)?.toString("latin1")).toBe(`${AT}/onie-installer`);
    expect(offer?.bootFile).toBeNull();
  });

  it("a known machine loads over the network it belongs to", async () => {
    const known = await clients.dora({ mac: "02:00:5e:00:00:01", ...pxe(0), userClass: "iPXE" }, PATIENT);
    expect(known.reply).toMatchObject({
      address: "192.168.50.9",
      nextServer: "192.168.50.1",
      bootFile: "http://192.168.50.1:8080/boot.ipxe",
    });
  });
});
