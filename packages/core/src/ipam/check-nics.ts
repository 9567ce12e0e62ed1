import { hardwareOctets, isEthernet, type HardwareAddress } from "../address/hardware.js";
import type { Problem } from "../problem.js";

const NICS_MAX = 16;

/** All that is wrong with the NICs of one machine. */
export function checkNics(nics: readonly HardwareAddress[]): Problem[] {
  if (nics.length === 0) {
    return [
      { code: "nics-missing", at: "nics", message: "a machine needs at least one NIC", remedy: "give its hardware address" },
    ];
  }
  if (nics.length > NICS_MAX) {
    return [
      {
        code: "nics-too-many",
        at: "nics",
        message: `${nics.length} NICs, more than ${NICS_MAX}`,
        remedy: "name the NICs of the bond",
      },
    ];
  }
  return nics.flatMap((nic, index) => {
    const octets = hardwareOctets(nic);
    if (!NIC_OCTETS.has(octets.length)) {
      const message = `${nic} has ${octets.length} octets, a NIC has 6, 8 or 20`;
      return [{ code: "nic-malformed", at: `nics[${index}]`, message, remedy: NIC_REMEDY }];
    }
    const group = isEthernet(nic) && ((octets[0] ?? 0) & 1) === 1;
    if (!group && octets.some((octet) => octet !== 0)) return [];
    const what = group ? "a multicast or broadcast address" : "all zeros";
    const message = `${nic} is ${what}, no NIC has it`;
    return [{ code: "nic-not-unicast", at: `nics[${index}]`, message, remedy: NIC_REMEDY }];
  });
}

/** Ethernet and its kin, EUI-64, IPoIB. */
const NIC_OCTETS: ReadonlySet<number> = new Set([6, 8, 20]);
const NIC_REMEDY = "use the address that `ip link` shows on the machine";
