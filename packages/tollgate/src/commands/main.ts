import { readFileSync } from "node:fs";
import { type CommandIo, processIo } from "./io.ts";

const usage = `usage: tollgate [command] [options]

  serve     answers rate limit decisions; the default. Settings are environment variables: tollgate serve --help
  client    asks a running service over gRPC
  check     looks for faults in configuration files
  explain   says which rule a request matches, and why

  --help, --version

Each command has a --help of its own.
`;

type Command = (argv: readonly string[], io: CommandIo) => Promise<number>;

/** Loaded when asked for: a command starts without what the others need. */
const commands: Record<string, () => Promise<Command>> = {
  serve: async () => {
    // Before the service's code is loaded: a signal that comes meanwhile is heard.
    const signals = new (await import("./signals.ts")).Signals();
    const { runServe } = await import("./serve.ts");
    return (argv, io) => runServe(argv, io, signals);
  },
  client: async () => (await import("./client.ts")).runClient,
  check: async () => (await import("./check.ts")).runCheck,
  explain: async () => (await import("./explain.ts")).runExplain,
};

/** The command line. Resolves with the exit status; 2 for a command that there is not. */
export async function main(argv: readonly string[]): Promise<number> {
  const io = processIo();
  const [first = "serve", ...rest] = argv;
  if (first === "--help" || first === "-h" || first === "help") {
    io.stdout.write(usage);
    return 0;
  }
  if (first === "--version" || first === "version") {
    io.stdout.write(`tollgate ${version()}\n`);
    return 0;
  }
  // `tollgate --example` is `tollgate serve --example`.
  const [name, args] = first.startsWith("-") ? ["serve", argv] : [first, rest];
  if (!Object.hasOwn(commands, name)) {
    io.stderr.write(`tollgate: there is no command "${name}"\n\n${usage}`);
    return 2;
  }
  const command = await commands[name]!();
  return command(args, io);
}

function version(): string {
  const manifest = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
