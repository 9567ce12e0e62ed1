/**
 * The file of a zone inside the zones folder. A classless reverse zone may be called `128/25...` (RFC 2317 §4), and a `/` would lead
 * into a folder that is not there; `+` is in no domain name, so two zones never share a file.
 */
export function zoneFileName(origin: string): string {
  return `${origin.replaceAll("/", "+")}.zone`;
}
