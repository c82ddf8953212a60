/** `tollgate counters`, `tollgate overrides` and `tollgate audit`: an operator's commands for a running service. */
import type { AuditEntry } from "../admin/audit-log.ts";
import type { ChangeView, CountersView, SearchView } from "../admin/operations.ts";
import type { OverrideView } from "../admin/override-operations.ts";
import { MANUAL, pageOfCode } from "../text/manual.ts";
import { AdminCallError, callAdmin } from "./admin-client.ts";
import { AUDIT, COUNTERS, OVERRIDES } from "./admin-descriptions.ts";
import {
  type AdminArguments,
  allowOnly,
  auditFlags,
  connectionOf,
  countersFlags,
  milliseconds,
  numberOf,
  overridesFlags,
  parseAdminFlags,
  required,
  textOf,
} from "./admin-options.ts";
import {
  auditText,
  changeText,
  countersText,
  overridesText,
  overrideText,
  searchText,
} from "./admin-print.ts";
import type { CommandDescription } from "./description.ts";
import { UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { usageOf } from "./usage.ts";

/** One subcommand: its request, and how its answer is shown. */
interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly show: (answer: never) => string;
}

type Steps = Readonly<Record<string, (given: AdminArguments) => Step>>;

const countersSteps: Steps = {
  get: (given) => {
    noWords(given, "get");
    allowOnly(given, "counters get", ["domain", "descriptor"]);
    const query = new URLSearchParams(target(given));
    return { method: "GET", path: `counters?${query}`, show: (answer: CountersView) => countersText(answer) };
  },
  ls: (given) => {
    noWords(given, "ls");
    allowOnly(given, "counters ls", ["domain", "prefix", "most", "next"]);
    const { values } = given;
    const query = new URLSearchParams();
    for (const [flag, name] of [
      ["domain", "domain"],
      ["prefix", "prefix"],
      ["next", "next"],
    ] as const) {
      const text = textOf(values, flag);
      if (text !== undefined) query.set(name, text);
    }
    const most = numberOf(values, "most", 1);
    if (most !== undefined) query.set("limit", String(most));
    return { method: "GET", path: `counters?${query}`, show: (answer: SearchView) => searchText(answer) };
  },
  reset: (given) => {
    noWords(given, "reset");
    allowOnly(given, "counters reset", ["domain", "descriptor", "reason"]);
    return {
      method: "POST",
      path: "counters/reset",
      body: { ...target(given), ...reason(given) },
      show: (answer: ChangeView) => changeText("reset", answer),
    };
  },
  grant: (given) => {
    noWords(given, "grant");
    allowOnly(given, "counters grant", ["domain", "descriptor", "limit", "hits", "reason"]);
    const hits = numberOf(given.values, "hits", 1);
    if (hits === undefined) throw new UsageError("-hits is missing: for example -hits 500");
    const limit = textOf(given.values, "limit");
    return {
      method: "POST",
      path: "counters/grant",
      body: { ...target(given), hits, ...(limit !== undefined && { limit }), ...reason(given) },
      show: (answer: ChangeView) => changeText(`granted ${hits}`, answer),
    };
  },
};

const overridesSteps: Steps = {
  ls: (given) => {
    noWords(given, "ls");
    allowOnly(given, "overrides ls", []);
    return {
      method: "GET",
      path: "overrides",
      show: ({ overrides }: { overrides: readonly OverrideView[] }) => overridesText(overrides),
    };
  },
  set: (given) => {
    const id = onlyWord(given, "set");
    const { values } = given;
    const limit = textOf(values, "limit");
    const requestsPerUnit = numberOf(values, "requests-per-unit", 0);
    const burst = numberOf(values, "burst", 1);
    const expires = expiresOf(values);
    return {
      method: "PUT",
      path: `overrides/${encodeURIComponent(id)}`,
      body: {
        ...target(given),
        ...(limit !== undefined && { limit }),
        ...(requestsPerUnit !== undefined && { requestsPerUnit }),
        ...(burst !== undefined && { burst }),
        ...(values.unlimited === true && { unlimited: true }),
        ...(expires !== undefined && { expires }),
        ...reason(given),
      },
      show: (answer: OverrideView) => `${overrideText(answer)}\n`,
    };
  },
  rm: (given) => {
    const id = onlyWord(given, "rm");
    allowOnly(given, "overrides rm", ["reason"]);
    return {
      method: "DELETE",
      path: `overrides/${encodeURIComponent(id)}`,
      body: reason(given),
      show: (answer: OverrideView) => `removed ${overrideText(answer)}\n`,
    };
  },
};

const audit = (given: AdminArguments): Step => {
  noWords(given, "audit");
  const most = numberOf(given.values, "most", 1);
  return {
    method: "GET",
    path: `audit${most === undefined ? "" : `?limit=${most}`}`,
    show: ({ changes }: { changes: readonly AuditEntry[] }) => auditText(changes),
  };
};

export function runCounters(argv: readonly string[], io: CommandIo): Promise<number> {
  return run(COUNTERS, argv, io, countersFlags, (given) => stepOf(countersSteps, given));
}

export function runOverrides(argv: readonly string[], io: CommandIo): Promise<number> {
  return run(OVERRIDES, argv, io, overridesFlags, (given) => stepOf(overridesSteps, given));
}

export function runAudit(argv: readonly string[], io: CommandIo): Promise<number> {
  return run(AUDIT, argv, io, auditFlags, audit);
}

async function run(
  command: CommandDescription,
  argv: readonly string[],
  io: CommandIo,
  flags: Parameters<typeof parseAdminFlags>[1],
  stepFor: (given: AdminArguments) => Step,
): Promise<number> {
  const name = `tollgate ${command.name}`;
  try {
    const given = parseAdminFlags(argv, flags);
    if (given.values.help === true) {
      io.stdout.write(usageOf(command));
      return 0;
    }
    const { method, path, body, show } = stepFor(given);
    const answer = await callAdmin(connectionOf(given, io), method, path, body);
    const isJson = given.values.json === true;
    io.stdout.write(isJson ? `${JSON.stringify(answer, undefined, 2)}\n` : show(answer as never));
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      io.stderr.write(`${name}: ${error.message}\nSee ${name} --help.\n`);
      return 2;
    }
    if (!(error instanceof AdminCallError)) throw error;
    io.stderr.write(`${name}: ${error.message}\ndocs: ${MANUAL}${pageOfCode(error.code)}\n`);
    return 1;
  }
}

function stepOf(steps: Steps, given: AdminArguments): Step {
  const [first, ...words] = given.words;
  const step = first !== undefined && Object.hasOwn(steps, first) ? steps[first] : undefined;
  if (step !== undefined) return step({ ...given, words });
  const names = Object.keys(steps).join(", ");
  throw new UsageError(
    first === undefined ? `pass one of ${names}` : `unknown subcommand "${first}": must be ${names}`,
  );
}

function target({ values }: AdminArguments): { domain: string; descriptor: string } {
  return {
    domain: required(values, "domain", "edge"),
    descriptor: required(values, "descriptor", "tenant=acme"),
  };
}

function reason({ values }: AdminArguments): { reason?: string } {
  const text = textOf(values, "reason");
  return text === undefined ? {} : { reason: text };
}

function expiresOf(values: AdminArguments["values"]): string | undefined {
  const expires = textOf(values, "expires");
  const length = textOf(values, "for");
  if (expires !== undefined && length !== undefined)
    throw new UsageError("-expires and -for must not be given together");
  if (length === undefined) return expires;
  return new Date(Date.now() + milliseconds("-for", length)).toISOString();
}

function noWords({ words }: AdminArguments, command: string): void {
  if (words.length > 0) throw new UsageError(`unexpected argument "${words[0]}" of ${command}`);
}

function onlyWord({ words }: AdminArguments, command: string): string {
  const [id] = words;
  if (id === undefined || words.length > 1)
    throw new UsageError(`pass one id, for example tollgate overrides ${command} acme`);
  return id;
}
