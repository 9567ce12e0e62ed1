import { addressBytes, addressFamily, addressFromBytes, assert, ipv4Number, type IpAddress, type IpFamily } from "@berth/core";

/** RFC 4291 §2.5.5.2. */
const MAPPED = Buffer.from("00000000000000000000ffff", "hex");

/** Sixteen octets that sort like the address, IPv4 mapped into IPv6: the same key in every engine. */
export function addressBlob(address: IpAddress): Buffer {
  if (addressFamily(address) === 6) return Buffer.from(addressBytes(address));
  const blob = Buffer.allocUnsafe(16);
  MAPPED.copy(blob);
  blob.writeUInt32BE(ipv4Number(address), MAPPED.length);
  return blob;
}

/** The inverse; the family tells a mapped address that was written as IPv6 from an IPv4 one. */
export function addressFromBlob(blob: Uint8Array, family: IpFamily): IpAddress {
  const address = addressFromBytes(family === 4 ? blob.subarray(12) : blob);
  assert(address !== null, `the database holds an address of ${blob.length} octets`);
  return address;
}
