/**
 * `npm run audit`: requests the known vulnerabilities of the installed packages from the registry, and checks the
 * packages' signatures. If the registry does not offer one of them (a mirror, no network), the audit says so and succeeds.
 */
import { spawnSync } from "node:child_process";

/** Exit status 1 only for `found`. */
export interface Verdict {
  readonly kind: "clean" | "found" | "unanswered";
  readonly detail: string;
}

interface Check {
  readonly name: string;
  readonly command: readonly string[];
  /** Reads npm's JSON; undefined if it is not an answer to the question. */
  read(output: Record<string, unknown>): Verdict | undefined;
}

/** Advisories of these levels fail. */
const FAILING = ["moderate", "high", "critical"];

/** Codes of npm for a registry that cannot be reached or that has no such endpoint. */
const UNANSWERED =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|E[45]\d\d)$/;

const vulnerabilities: Check = {
  name: "known vulnerabilities",
  command: ["audit", "--json"],
  read(output) {
    if (typeof output.vulnerabilities !== "object" || output.vulnerabilities === null) return undefined;
    const all = Object.entries(output.vulnerabilities as Record<string, { severity: string }>);
    const failing = all.filter(([, { severity }]) => FAILING.includes(severity));
    const list = all.map(([name, { severity }]) => `${name} (${severity})`).join(", ");
    if (failing.length > 0) return { kind: "found", detail: list };
    return { kind: "clean", detail: list === "" ? "none" : `none of ${FAILING.join(", ")}: ${list}` };
  },
};

const signatures: Check = {
  name: "signatures",
  command: ["audit", "signatures", "--json"],
  read({ invalid, missing }) {
    if (!Array.isArray(invalid) || !Array.isArray(missing)) return undefined;
    const wrong = [
      ...invalid.map((one) => `${nameOf(one)} (invalid)`),
      ...missing.map((one) => `${nameOf(one)} (missing)`),
    ];
    return wrong.length === 0
      ? { kind: "clean", detail: "all valid" }
      : { kind: "found", detail: wrong.join(", ") };
  },
};

const checks = { vulnerabilities, signatures };

function nameOf(entry: { readonly name?: string; readonly version?: string }): string {
  return `${entry.name}@${entry.version}`;
}

/** Classifies npm's standard output. Output that is neither an answer nor a known failure of the request is a finding. */
export function verdictOf(check: keyof typeof checks, stdout: string): Verdict {
  let output: Record<string, unknown>;
  try {
    output = JSON.parse(stdout) as Record<string, unknown>;
  } catch {
    return {
      kind: "found",
      detail: `npm answered ${JSON.stringify(stdout.slice(0, 200))}, which is not JSON`,
    };
  }
  const verdict = checks[check].read(output);
  if (verdict !== undefined) return verdict;
  const { code = "", summary = "" } = (output.error ?? {}) as { code?: string; summary?: string };
  const { statusCode } = output;
  if (typeof statusCode === "number" && statusCode >= 400)
    return { kind: "unanswered", detail: `the registry answered with status ${statusCode}` };
  if (UNANSWERED.test(code)) return { kind: "unanswered", detail: code };
  return { kind: "found", detail: `npm failed: ${code} ${summary || stdout.slice(0, 200)}` };
}

function run(check: keyof typeof checks): Verdict {
  const { stdout, error } = spawnSync("npm", [...checks[check].command], {
    encoding: "utf8",
    timeout: 120_000,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "ignore"],
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT")
    return { kind: "unanswered", detail: "no answer within two minutes" };
  return error === undefined ? verdictOf(check, stdout) : { kind: "found", detail: error.message };
}

if (import.meta.main) {
  const asked = process.argv.slice(2);
  for (const check of Object.keys(checks) as (keyof typeof checks)[]) {
    if (asked.length > 0 && !asked.includes(check)) continue;
    const { kind, detail } = run(check);
    const text = kind === "unanswered" ? `not checked: ${detail}` : detail;
    console.log(`${checks[check].name}: ${text}`);
    if (kind === "found") process.exitCode = 1;
  }
}
