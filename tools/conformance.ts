/**
 * `npm run conformance`: runs the HTTP/2 conformance tool and independent gRPC clients against grpc-wire. Builds h2spec, ghz and
 * grpcurl into folders of their own through the Go module proxy, then runs the suite with the arguments that it knows.
 *
 *   npm run conformance                     fails if a tool cannot be built
 *   npm run conformance -- --if-available   prints the reason instead, and runs the suite with the other tools
 *   npm run conformance -- --client h2spec  the suite with one client; see its file for all arguments
 *
 * H2SPEC, GHZ and GRPCURL name tools that are not to be built.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildGoTool } from "./go-tools.ts";

const suite = fileURLToPath(new URL("../packages/grpc-wire/conformance/run.ts", import.meta.url));

const tools = [
  // Its later releases cannot be built as modules.
  { variable: "H2SPEC", name: "github.com/summerwind/h2spec/cmd/h2spec", version: "v2.2.1+incompatible" },
  { variable: "GHZ", name: "github.com/bojand/ghz/cmd/ghz", version: "v0.93.0" },
  { variable: "GRPCURL", name: "github.com/fullstorydev/grpcurl/cmd/grpcurl", version: "v1.9.4" },
];

const words = process.argv.slice(2).filter((word) => word !== "--if-available");
const isOptional = words.length < process.argv.length - 2;
const env: NodeJS.ProcessEnv = { ...process.env };
for (const { variable, name, version } of tools) {
  if (env[variable]) continue;
  const built = buildGoTool(name, version);
  if ("command" in built) env[variable] = built.command;
  else {
    console.error(`the suite runs without ${variable}: ${built.reason}`);
    if (!isOptional) process.exit(1);
  }
}
process.exit(spawnSync(process.execPath, [suite, ...words], { stdio: "inherit", env }).status ?? 1);
