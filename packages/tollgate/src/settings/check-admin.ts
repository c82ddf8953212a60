/** Checks the settings of the admin API: it never opens without a credential. */
import { isIPv4, isIPv6 } from "node:net";
import type { Findings } from "./read-values.ts";
import type { Values } from "./table.ts";

/** The fewest characters of a token: 128 random bits in hexadecimal digits. */
export const SHORTEST_TOKEN = 32;

/** Returns the reason why a pair of name and token cannot be used; undefined if it can. Never quotes the token. */
export function faultOfOperator(name: string, token: string): string | undefined {
  if (!/^[\w.@-]{1,64}$/.test(name))
    return "must have names of 1 to 64 letters, digits, `_`, `.`, `@` and `-`";
  if (token.length < SHORTEST_TOKEN)
    return `must have tokens of ${SHORTEST_TOKEN} characters or more; the token of ${name} has ${token.length}`;
  if (!/^[\x21-\x7e]*$/.test(token))
    return `must have tokens of printable ASCII without white space; the token of ${name} has other characters`;
  return undefined;
}

export function checkAdmin({ admin }: Values, findings: Findings): void {
  const { port, tokens, tokenFile, tls, host } = admin;
  if (port === undefined) {
    const given = [...findings.given.keys()].filter((name) => name.startsWith("ADMIN_"));
    if (given.length > 0)
      findings.warnings.push(`settings without effect, because ADMIN_PORT is not set: ${given.join(", ")}`);
    return;
  }
  for (const [name, token] of tokens) {
    const fault = faultOfOperator(name, token.reveal());
    if (fault !== undefined) findings.fault("ADMIN_TOKENS", fault);
  }
  if (tokens.length === 0 && tokenFile === undefined && tls.clientCaCert === undefined)
    findings.fault(
      "ADMIN_PORT",
      "needs a credential: set ADMIN_TOKENS, ADMIN_TOKEN_FILE or ADMIN_CLIENT_TLS_CACERT",
    );
  if (!tls.enabled && !isLoopback(host))
    findings.warnings.push(
      "the admin API is open to other machines without TLS (ADMIN_HOST): tokens can be read on the way; set ADMIN_SERVER_USE_TLS",
    );
}

function isLoopback(host: string): boolean {
  return (
    host === "localhost" || (isIPv4(host) && host.startsWith("127.")) || (isIPv6(host) && host === "::1")
  );
}
