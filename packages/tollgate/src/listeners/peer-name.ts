import type { PeerCertificate } from "node:tls";

/** Whether a certificate carries a DNS name among its subject alternative names, a wildcard for one label included (RFC 6125, section 6.4). */
export function carriesDnsName(certificate: PeerCertificate, name: string): boolean {
  const wanted = name.toLowerCase().replace(/\.$/, "");
  return dnsNames(certificate).some((carried) => matches(carried.toLowerCase(), wanted));
}

function dnsNames({ subjectaltname }: PeerCertificate): string[] {
  if (!subjectaltname) return [];
  // Node writes `DNS:a, DNS:b`, and quotes as JSON what could be mistaken for a separator.
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
