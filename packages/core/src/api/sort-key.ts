import { addressFamily, addressValue, ipv4Number, type IpAddress } from "../address/ip.js";
import { ipPrefix, prefixLength, prefixNetwork } from "../address/prefix.js";

/** Text that sorts as the addresses do: IPv4 before IPv6, then numeric. */
export function addressSortKey(address: IpAddress): string {
  return addressFamily(address) === 4
    ? `4${ipv4Number(address).toString(16).padStart(8, "0")}`
    : `6${addressValue(address).toString(16).padStart(32, "0")}`;
}

/** Text that sorts as the prefixes do: by network address, the wider first. */
export function prefixSortKey(prefix: string): string {
  const network = ipPrefix(prefix);
  return `${addressSortKey(prefixNetwork(network))}/${String(prefixLength(network)).padStart(3, "0")}`;
}
