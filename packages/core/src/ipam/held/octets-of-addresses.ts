import { ipv4FromNumber, ipv4Number, ipv6FromParts, type IpAddress } from "../../address/ip.js";
import { ipv6Parts } from "../../address/ipv6-text.js";
import { hardwareOctets, type HardwareAddress } from "../../address/hardware.js";
import type { OctetReader } from "../../packed/octet-reader.js";
import type { OctetWriter } from "../../packed/octet-writer.js";

/** Four octets of an IPv4 address, sixteen of an IPv6 one; the reader must know which. */
export function writeAddress(address: IpAddress, to: OctetWriter): void {
  if (!address.includes(":"))
    for (let value = ipv4Number(address), shift = 24; shift >= 0; shift -= 8) to.octet((value >>> shift) & 255);
  else
    for (const part of ipv6Parts(address)) {
      to.octet(part >>> 8);
      to.octet(part & 255);
    }
}

export function readAddress(family: 4 | 6, from: OctetReader): IpAddress {
  if (family === 4)
    return ipv4FromNumber(((from.octet() << 24) | (from.octet() << 16) | (from.octet() << 8) | from.octet()) >>> 0);
  const parts = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let i = 0; i < parts.length; i++) parts[i] = from.octet() * 256 + from.octet();
  return ipv6FromParts(parts);
}

export function writeNics(nics: readonly HardwareAddress[], to: OctetWriter): void {
  to.count(nics.length);
  for (const nic of nics) {
    const octets = hardwareOctets(nic);
    to.octet(octets.length);
    for (const octet of octets) to.octet(octet);
  }
}

export function readNics(from: OctetReader): HardwareAddress[] {
  const nics: HardwareAddress[] = [];
  for (let left = from.count(); left > 0; left--) {
    let text = "";
    for (let octets = from.octet(); octets > 0; octets--) text += (text === "" ? "" : ":") + (HEX[from.octet()] ?? "");
    nics.push(text as HardwareAddress);
  }
  return nics;
}

const HEX = Array.from({ length: 256 }, (_, octet) => octet.toString(16).padStart(2, "0"));
