/** h2spec, strict, all its cases, over cleartext and TLS. */
import { goModuleVersion, runTool } from "./clients/tool.ts";
import type { Stage } from "./stage.ts";

export interface Conformance {
  readonly version: string;
  readonly runs: readonly ConformanceRun[];
}

interface ConformanceRun {
  readonly transport: "cleartext" | "TLS with ALPN";
  /** h2spec's last line: `146 tests, 146 passed, 0 skipped, 0 failed`. */
  readonly summary: string;
  readonly passed: boolean;
  /** Its whole report. */
  readonly report: string;
}

export async function conform(stage: Stage, command: string): Promise<Conformance> {
  const runs: ConformanceRun[] = [];
  for (const transport of ["cleartext", "TLS with ALPN"] as const) {
    const { port } = stage.target(transport);
    const tls = transport === "cleartext" ? [] : ["-t", "-k"];
    const args = ["-S", ...tls, "-h", "127.0.0.1", "-p", String(port), "-P", "/judge.Judge/Echo"];
    const { code, stdout, stderr } = await runTool(command, args);
    const report = `${stdout}${stderr}${stage.complaints()}`;
    const found = /(\d+) tests?, (\d+) passed, (\d+) skipped, (\d+) failed/.exec(report);
    const passed = code === 0 && found !== null && found[1] === found[2] && stage.complaints() === "";
    runs.push({ transport, summary: found?.[0] ?? `no summary: exit code ${code}`, passed, report });
  }
  return { version: await goModuleVersion(command, "github.com/summerwind/h2spec"), runs };
}
