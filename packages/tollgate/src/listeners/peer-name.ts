import type { PeerCertificate } from "node:tls";

/** Whether a DNS name is among a certificate's subject alternative names. A wildcard matches one label (RFC 6125, section 6.4). */
export function carriesDnsName(certificate: PeerCertificate, name: string): boolean {
  const wanted = name.toLowerCase().replace(/\.$/, "");
  return dnsNames(certificate).some((carried) => matches(carried.toLowerCase(), wanted));
}

function dnsNames({ subjectaltname }: PeerCertificate): string[] {
  if (!subjectaltname) return [];
  // Node writes `DNS:a, DNS:b`, and quotes names with a separator in them as JSON.
  const entries = subjectaltname.match(/\s*("(?:[^"\\]|\\.)*"|[^",]|:"(?:[^"\\]|\\.)*")+/g) ?? [];
  return entries
    .map((entry) => entry.trim())
    .filter((entry) => entry.startsWith("DNS:"))
    .map((entry) => entry.slice("DNS:".length))
    .filter((carried) => !carried.startsWith('"'));
}

function matches(carried: string, wanted: string): boolean {
  if (carried === wanted) return true;
  if (!carried.startsWith("*.")) return false;
  const dot = wanted.indexOf(".");
  return dot > 0 && wanted.slice(dot) === carried.slice(1);
}
