import assert from "node:assert/strict";
import { test } from "node:test";
import type { PeerCertificate } from "node:tls";
import { tlsTarget } from "./tls-target.ts";

const certificate = (subjectaltname: string) =>
  ({ subject: {}, subjectaltname }) as unknown as PeerCertificate;

const byIp: [string, string][] = [
  ["127.0.0.1:8081", "127.0.0.1"],
  ["[::1]:8081", "0:0:0:0:0:0:0:1"],
  ["dns:10.0.0.1:443", "10.0.0.1"],
  ["dns:///10.0.0.1", "10.0.0.1"],
  ["ipv4:10.0.0.1:1", "10.0.0.1"],
];
for (const [address, ip] of byIp) {
  test(`${address}: no server name is sent, and the certificate must have the IP address`, () => {
    const { verify, channel } = tlsTarget(address, undefined);
    assert.doesNotMatch(channel["grpc.ssl_target_name_override"]!, /\d/);
    assert.equal(verify.checkServerIdentity!("", certificate(`IP Address:${ip}`)), undefined);
    assert.match(String(verify.checkServerIdentity!("", certificate("IP Address:10.9.9.9"))), /IP/);
    assert.match(String(verify.checkServerIdentity!("", certificate("DNS:ip-address.invalid"))), /IP/);
  });
}

for (const address of [
  "localhost:8081",
  "limits.example",
  "dns:///limits.example:1",
  "unix:/run/10.0.0.1:1",
  "",
]) {
  test(`${JSON.stringify(address)} is not an IP address`, () => {
    assert.deepEqual(tlsTarget(address, undefined), { verify: {}, channel: {} });
  });
}

test("a given server name overrides the address", () => {
  assert.equal(tlsTarget("127.0.0.1:1", "a.example").channel["grpc.ssl_target_name_override"], "a.example");
});
