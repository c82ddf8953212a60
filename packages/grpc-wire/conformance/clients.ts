/** The clients: those of npm always, the others when their tool is found. */
import type { Client } from "./client.ts";
import { connectNode } from "./clients/connect-node.ts";
import { curl } from "./clients/curl.ts";
import { ghz } from "./clients/ghz.ts";
import { grpcJs } from "./clients/grpc-js.ts";
import { grpcio } from "./clients/grpcio.ts";
import { grpcurl } from "./clients/grpcurl.ts";
import { h2load } from "./clients/h2load.ts";
import { nghttp } from "./clients/nghttp.ts";
import { findTool, runTool } from "./clients/tool.ts";

interface Tool {
  readonly name: string;
  /** Environment variable that names it by its path. */
  readonly variable: string;
  readonly command: string;
  readonly client: (command: string) => Client;
  /** Arguments that succeed where the command is of use; it is always where this is not given. */
  readonly probe?: readonly string[];
}

const npmClients: readonly Client[] = [grpcJs, connectNode];

const tools: readonly Tool[] = [
  { name: "curl", variable: "CURL", command: "curl", client: curl },
  { name: "nghttp", variable: "NGHTTP", command: "nghttp", client: nghttp },
  { name: "h2load", variable: "H2LOAD", command: "h2load", client: h2load },
  { name: "ghz", variable: "GHZ", command: "ghz", client: ghz },
  { name: "grpcurl", variable: "GRPCURL", command: "grpcurl", client: grpcurl },
  {
    name: "grpcio",
    variable: "PYTHON",
    command: "python3",
    client: grpcio,
    probe: ["-c", "import grpc, grpc_health, grpc_reflection, grpc_tools"],
  },
];

/** The options of `findClients`. */
export const clientNames: readonly string[] = [...npmClients, ...tools].map(({ name }) => name);

export interface Found {
  readonly clients: readonly Client[];
  /** The missing tools, and the variables that name them. */
  readonly missing: string[];
}

/** `wanted`: names; empty for all. */
export async function findClients(wanted: readonly string[] = []): Promise<Found> {
  const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);
  const clients = npmClients.filter(({ name }) => isWanted(name));
  const missing: string[] = [];
  for (const { name, variable, command, client, probe } of tools.filter((each) => isWanted(each.name))) {
    const path = findTool(variable, command);
    if (path !== undefined && (probe === undefined || (await runTool(path, probe)).code === 0))
      clients.push(client(path));
    else missing.push(`${name} (${variable}=path, or ${command} on the PATH${probe ? ` with ${name}` : ""})`);
  }
  return { clients, missing };
}
