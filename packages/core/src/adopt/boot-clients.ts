/** A machine as a condition of dhcpd.conf sees it: the octets of what it sends, one character each; null for what it does not send. */
export interface BootClient {
  readonly kind: string;
  /** Option 60. */
  readonly vendorClass: string | null;
  /** Option 77. */
  readonly userClass: string | null;
  /** Option 93. */
  readonly architecture: number | null;
  /** Whether it sends option 175, as iPXE does. */
  readonly ipxeFeatures: boolean;
}

/** One of each kind that Berth tells apart, and of the others that ladders name (RFC 4578 §2.1 and the IANA registry): on them a file and Berth are compared. */
export const BOOT_CLIENTS: readonly BootClient[] = [
  pxe("BIOS", 0),
  { ...pxe("PXE without an architecture", 0), vendorClass: "PXEClient", architecture: null },
  pxe("UEFI x64 (7)", 7),
  pxe("UEFI x64 (9)", 9),
  pxe("UEFI arm64", 11),
  http("UEFI HTTP x64", 16),
  http("UEFI HTTP arm64", 19),
  ipxe("iPXE on BIOS", 0),
  ipxe("iPXE on UEFI x64 (7)", 7),
  ipxe("iPXE on UEFI x64 (9)", 9),
  ipxe("iPXE on UEFI arm64", 11),
  { kind: "ONIE", vendorClass: "onie_vendor:x86_64-accton_as7712-r0", userClass: null, architecture: null, ipxeFeatures: false },
  pxe("UEFI x86", 6),
  pxe("UEFI arm32", 10),
  pxe("Itanium", 2),
  http("UEFI HTTP x86", 15),
  { kind: "a machine that is already up", vendorClass: "MSFT 5.0", userClass: null, architecture: null, ipxeFeatures: false },
  { kind: "a machine that names no vendor", vendorClass: null, userClass: null, architecture: null, ipxeFeatures: false },
];

function pxe(kind: string, architecture: number): BootClient {
  const vendorClass = `PXEClient:Arch:${String(architecture).padStart(5, "0")}:UNDI:003001`;
  return { kind, vendorClass, userClass: null, architecture, ipxeFeatures: false };
}

function http(kind: string, architecture: number): BootClient {
  const vendorClass = `HTTPClient:Arch:${String(architecture).padStart(5, "0")}:UNDI:003001`;
  return { kind, vendorClass, userClass: null, architecture, ipxeFeatures: false };
}

/** iPXE leaves out the length octet of RFC 3004 §4. */
function ipxe(kind: string, architecture: number): BootClient {
  return { ...pxe(kind, architecture), userClass: "iPXE", ipxeFeatures: true };
}
