/**
 * Other projects' gRPC clients, and HTTP/2's conformance tool, against grpc-wire. Prints a table, and exits with 1 when one
 * of them found a fault. `npm run conformance` builds the tools that it can build, then runs this file.
 *
 *   --client ghz --client curl     these only; h2spec is one of them
 *   --markdown docs/grpc-wire.md   writes the tables into a Markdown file, between its marks
 *
 * The clients from npm are always there. The command looks for curl, nghttp, h2load, ghz, grpcurl, h2spec and a python3
 * with grpcio on the PATH; CURL, NGHTTP, H2LOAD, GHZ, GRPCURL, H2SPEC and PYTHON name them elsewhere.
 */
import { parseArgs } from "node:util";
import { type ClientReport, hasFailed, testClient } from "./client-report.ts";
import { findTool } from "./clients/tool.ts";
import { clientNames, findClients } from "./clients.ts";
import { type H2specResult, runH2spec } from "./h2spec.ts";
import { printReport, writeMarkdown } from "./report.ts";
import { TestBed } from "./test-bed.ts";

const { values } = parseArgs({
  options: {
    client: { type: "string", multiple: true, default: [] },
    markdown: { type: "string" },
  },
});
const unknown = values.client.filter((name) => name !== "h2spec" && !clientNames.includes(name));
if (unknown.length > 0) {
  console.error(`no such client: ${unknown.join(", ")}; there are ${clientNames.join(", ")}, h2spec`);
  process.exit(2);
}
const { clients, missing } = await findClients(values.client);
const wantsH2spec = values.client.length === 0 || values.client.includes("h2spec");
const h2spec = wantsH2spec ? findTool("H2SPEC", "h2spec") : undefined;
if (wantsH2spec && h2spec === undefined) missing.push("h2spec (H2SPEC=path, or h2spec on the PATH)");

await using bed = await TestBed.start();
const reports: ClientReport[] = [];
for (const client of clients) {
  console.error(`${client.name} ...`);
  const report = await testClient(bed, client, (fault) => console.error(`  ${fault}`));
  if (hasFailed(report)) process.exitCode = 1;
  reports.push(report);
}
let h2specResult: H2specResult | undefined;
if (h2spec !== undefined) {
  console.error("h2spec ...");
  h2specResult = await runH2spec(bed, h2spec);
  for (const { passed, output } of h2specResult.runs) {
    if (passed) continue;
    console.error(output);
    process.exitCode = 1;
  }
}
for (const tool of missing) console.error(`not here: ${tool}`);
// A client that was asked for by name has to be there.
if (values.client.length > 0 && missing.length > 0) process.exitCode = 1;
console.log(printReport(reports, h2specResult));
if (values.markdown !== undefined) writeMarkdown(values.markdown, reports, h2specResult);
