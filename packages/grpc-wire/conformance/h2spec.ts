/** h2spec, strict, all its cases: over cleartext and TLS, and against the HTTP/2 layer alone. */
import { goModuleVersion, runTool } from "./clients/tool.ts";
import type { TestBed } from "./test-bed.ts";

export interface H2specResult {
  readonly version: string;
  readonly runs: readonly H2specRun[];
}

interface H2specRun {
  readonly what: "cleartext" | "TLS with ALPN" | "the HTTP/2 layer alone";
  /** h2spec's last line: `146 tests, 146 passed, 0 skipped, 0 failed`. */
  readonly summary: string;
  readonly passed: boolean;
  /** All that it printed. */
  readonly output: string;
}

export async function runH2spec(bed: TestBed, command: string): Promise<H2specResult> {
  const runs: H2specRun[] = [];
  for (const what of ["cleartext", "TLS with ALPN", "the HTTP/2 layer alone"] as const) {
    const port = what === "the HTTP/2 layer alone" ? bed.http2Port : bed.target(what).port;
    const tls = what === "TLS with ALPN" ? ["-t", "-k"] : [];
    const args = ["-S", ...tls, "-h", "127.0.0.1", "-p", String(port), "-P", "/conformance.Probe/Echo"];
    const { code, stdout, stderr } = await runTool(command, args);
    const output = `${stdout}${stderr}${bed.complaints()}`;
    const found = /(\d+) tests?, (\d+) passed, (\d+) skipped, (\d+) failed/.exec(output);
    const passed = code === 0 && found !== null && found[1] === found[2] && bed.complaints() === "";
    runs.push({ what, summary: found?.[0] ?? `no summary: exit code ${code}`, passed, output });
  }
  return { version: await goModuleVersion(command, "github.com/summerwind/h2spec"), runs };
}
