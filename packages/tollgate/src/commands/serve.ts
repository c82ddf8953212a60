import { EXAMPLES } from "../installation.ts";
import { createLogger, logWarnings } from "../observe/log.ts";
import { type Addresses, Service, StoppedError } from "../service.ts";
import { formatFault, SettingsError } from "../settings/errors.ts";
import { loadSettings } from "../settings/load-settings.ts";
import { settingsHelp } from "../settings/manual.ts";
import { type Environment, rowsOf } from "../settings/read-values.ts";
import { table } from "../settings/table.ts";
import { MANUAL, pageOfError, pageOfSetting, SETTINGS_PAGE, START_PAGE, withPage } from "../text/manual.ts";
import { SERVE } from "./descriptions.ts";
import { docsLines } from "./docs-lines.ts";
import { parseFlags, UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import type { Signals } from "./signals.ts";
import { usageOf } from "./usage.ts";

export const serveFlags = { help: { type: "boolean" }, example: { type: "boolean" } } as const;

/**
 * Defaults of `--example`. The environment overrides them. The service listens on this machine only, because it has no
 * authentication.
 */
function exampleEnvironment({ GRPC_UDS = "", HTTP_ENABLED = "" }: Environment): Record<string, string> {
  const hasHttp = HTTP_ENABLED === "" || /^(?:1|t|true)$/i.test(HTTP_ENABLED);
  return {
    // A host setting for a closed port would cause a warning.
    ...(hasHttp && { HOST: "127.0.0.1" }),
    ...(GRPC_UDS === "" && { GRPC_HOST: "127.0.0.1" }),
    DEBUG_HOST: "127.0.0.1",
    RUNTIME_ROOT: EXAMPLES,
    RUNTIME_WATCH_ROOT: "false",
    BACKEND_TYPE: "embedded",
    DISABLE_STATS: "true",
  };
}

/** Adds the defaults of `--example`. An empty value counts as unset. */
function withExample(environment: Environment): Environment {
  const given = Object.entries(environment).filter(([, value]) => value !== undefined && value !== "");
  return { ...exampleEnvironment(environment), ...Object.fromEntries(given) };
}

/** `tollgate serve`: runs the service. Resolves with the exit status when the service has stopped. */
export async function runServe(argv: readonly string[], io: CommandIo, signals: Signals): Promise<number> {
  let options: { help?: boolean; example?: boolean };
  try {
    options = parseFlags(argv, serveFlags, false).values;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`tollgate serve: ${error.message}\nSee tollgate serve --help.\n`);
    return 2;
  }
  if (options.help) {
    io.stdout.write(`${usageOf(SERVE)}\nSettings are environment variables:\n\n${settingsHelp()}`);
    return 0;
  }
  const env = options.example ? withExample(io.env) : io.env;
  let service: Service | undefined;
  try {
    service = await Service.start(loadSettings(env), env);
    const ended = signals.control(service);
    logWarnings(service.log);
    try {
      await service.opened;
    } catch (error) {
      if (error instanceof StoppedError) return await ended;
      throw error;
    }
    if (options.example) io.stdout.write(exampleLines(service.addresses));
    return await ended;
  } catch (error) {
    reportFailure(error, io);
    await service?.stop();
    return 1;
  }
}

/** Logs why the service cannot start. In text format, prints faults of the settings as a list. */
function reportFailure(error: unknown, io: CommandIo): void {
  const json = io.env.LOG_FORMAT?.toLowerCase() === "json";
  if (error instanceof SettingsError && !json) {
    const pages = error.faults.map(({ variable }) => settingPage(variable));
    io.stderr.write(`tollgate: ${[error.message, ...docsLines(pages, SETTINGS_PAGE)].join("\n")}\n`);
    return;
  }
  const log = createLogger({ level: "fatal", format: json ? "json" : "text" });
  if (error instanceof SettingsError) {
    for (const fault of error.faults) log.fatal(withPage(formatFault(fault), settingPage(fault.variable)));
    return;
  }
  const reason = error instanceof Error ? error.message : String(error);
  log.fatal(withPage(`the service cannot start: ${reason}`, MANUAL + (pageOfError(error) ?? START_PAGE)));
}

/** The page of a variable. A name that has no row of its own, such as that of a mogrifier, has the whole page. */
function settingPage(variable: string): string {
  const has = rowsOf(table).some(({ name, aliases }) => name === variable || aliases.includes(variable));
  return has ? pageOfSetting(variable) : SETTINGS_PAGE;
}

/** Prints the addresses and two example commands. */
function exampleLines({ http, grpc, debug }: Addresses): string {
  const local = (address: string) => address.replace(/^(0\.0\.0\.0|\[::\])(?=:)/, "localhost");
  const body = JSON.stringify({
    domain: "messaging",
    descriptors: [
      {
        entries: [
          { key: "message_type", value: "marketing" },
          { key: "to_number", value: "5551234" },
        ],
      },
    ],
  });
  const ports = [`gRPC ${local(grpc)}`, `debug ${local(debug)}`];
  if (http !== "") ports.unshift(`HTTP ${local(http)}`);
  const curl = http === "" ? "" : `  curl -d '${body}' http://${local(http)}/json\n`;
  return `
Tollgate is running with the example configuration: ${ports.join(", ")}
Paste into another terminal:

${curl}  npx tollgate client -dial_string ${local(grpc)} -domain messaging -descriptors message_type=marketing,to_number=5551234 -repeat 6

`;
}
