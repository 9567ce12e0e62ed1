import { parseHardwareAddress, type HardwareAddress } from "../address/hardware.js";
import { assert } from "../problem.js";

/**
 * Under this locally administered hardware address ("berth" in ASCII) an agent asks which DHCP servers are on a link. Every dhcpd that Berth configures passes its
 * questions over: a packet socket sees what its own host sends, so a rack's own dhcpd would otherwise hold an address for nobody at each round.
 */
export const QUESTION_HARDWARE_ADDRESS: HardwareAddress = known("02:62:65:72:74:68");

function known(text: string): HardwareAddress {
  const address = parseHardwareAddress(text);
  assert(address !== null, `not a hardware address: ${text}`);
  return address;
}
