import { readVersion } from "../installation.ts";
import { type CommandIo, processIo } from "./io.ts";

const usage = `usage: tollgate [command] [options]

  serve     runs the rate limit service; the default. Settings are environment variables: tollgate serve --help
  client    sends requests to a running service over gRPC
  check     checks configuration files
  explain   shows which rule a request matches and why

  --help, --version

See tollgate COMMAND --help for each command.
`;

type Command = (argv: readonly string[], io: CommandIo) => Promise<number>;

/** Commands are loaded on demand, so that each starts without the dependencies of the others. */
const commands: Record<string, () => Promise<Command>> = {
  serve: async () => {
    // Listens before the service's code is loaded, so that no signal is lost.
    const signals = new (await import("./signals.ts")).Signals();
    const { runServe } = await import("./serve.ts");
    return (argv, io) => runServe(argv, io, signals);
  },
  client: async () => (await import("./client.ts")).runClient,
  check: async () => (await import("./check.ts")).runCheck,
  explain: async () => (await import("./explain.ts")).runExplain,
};

/** Runs the command line. Resolves with the exit status; 2 for an unknown command. */
export async function main(argv: readonly string[]): Promise<number> {
  const io = processIo();
  const [first = "serve", ...rest] = argv;
  if (first === "--help" || first === "-h" || first === "help") {
    io.stdout.write(usage);
    return 0;
  }
  if (first === "--version" || first === "version") {
    io.stdout.write(`tollgate ${readVersion()}\n`);
    return 0;
  }
  // `tollgate --example` means `tollgate serve --example`.
  const [name, args] = first.startsWith("-") ? ["serve", argv] : [first, rest];
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) {
    io.stderr.write(`tollgate: unknown command "${name}"\n\n${usage}`);
    return 2;
  }
  if (name !== "serve" && process.pid === 1) endBySignal();
  const command = await load();
  return command(args, io);
}

/** The kernel ignores signals to process 1, as in a container, unless the process handles them. */
function endBySignal(): void {
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
}
