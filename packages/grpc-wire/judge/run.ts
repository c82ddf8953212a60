/**
 * The gRPC clients of others and HTTP/2's conformance tool against grpc-wire: prints a table, and exits with 1 where one
 * of them found a fault. `npm run conformance` builds what can be built, then runs this file.
 *
 *   --client ghz --client curl     these only; h2spec is one of them
 *   --markdown docs/grpc-wire.md   writes the tables into a Markdown file, between its marks
 *
 * The clients from npm are always there. curl, nghttp, h2load, ghz, grpcurl, h2spec and a python3 with grpcio are
 * looked for on the PATH; CURL, NGHTTP, H2LOAD, GHZ, GRPCURL, H2SPEC and PYTHON name them elsewhere.
 */
import { parseArgs } from "node:util";
import { findTool } from "./clients/tool.ts";
import { clientNames, findClients } from "./clients.ts";
import { type Conformance, conform } from "./h2spec.ts";
import { hasFailed, type Judgement, judge } from "./judge.ts";
import { printReport, writeMarkdown } from "./report.ts";
import { Stage } from "./stage.ts";

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

await using stage = await Stage.set();
const judgements: Judgement[] = [];
for (const client of clients) {
  console.error(`${client.name} ...`);
  const judgement = await judge(stage, client, (fault) => console.error(`  ${fault}`));
  if (hasFailed(judgement)) process.exitCode = 1;
  judgements.push(judgement);
}
let conformance: Conformance | undefined;
if (h2spec !== undefined) {
  console.error("h2spec ...");
  conformance = await conform(stage, h2spec);
  for (const { passed, report } of conformance.runs) {
    if (passed) continue;
    console.error(report);
    process.exitCode = 1;
  }
}
for (const tool of missing) console.error(`not here: ${tool}`);
// Who was asked for by name has to be there.
if (values.client.length > 0 && missing.length > 0) process.exitCode = 1;
console.log(printReport(judgements, conformance));
if (values.markdown !== undefined) writeMarkdown(values.markdown, judgements, conformance);
