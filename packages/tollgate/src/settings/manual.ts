import type { Setting } from "./kinds/setting.ts";
import { rowsOf } from "./read-values.ts";
import { table } from "./table.ts";

/** One section of the help and the manual. */
interface Section {
  readonly title: string;
  readonly rows: readonly Setting<unknown>[];
  /** Markdown for the manual only. */
  readonly notes?: string;
}

const sections: readonly Section[] = [
  { title: "HTTP port", rows: rowsOf(table.http) },
  { title: "gRPC port", rows: rowsOf(table.grpc) },
  { title: "Debug port", rows: rowsOf(table.debug) },
  {
    title: "Admin API",
    rows: rowsOf(table.admin),
    notes: "[Counters and overrides](operating-counters.md) describes the API and its commands.",
  },
  { title: "Size of requests", rows: rowsOf(table.requests) },
  { title: "Startup and shutdown", rows: rowsOf(table.lifecycle) },
  { title: "Configuration", rows: rowsOf(table.config) },
  {
    title: "Configuration from files",
    rows: rowsOf(table.files),
    notes:
      "The service reads `RUNTIME_ROOT/RUNTIME_SUBDIRECTORY/RUNTIME_APPDIRECTORY/*.yaml`. See [Where the rules come from](configuration-sources.md) for reloads.",
  },
  { title: "Configuration from a management server (xDS)", rows: rowsOf(table.xds) },
  { title: "Decisions and responses", rows: rowsOf(table.decision) },
  { title: "Reservations", rows: rowsOf(table.reservations) },
  { title: "Counter stores", rows: rowsOf(table.store) },
  { title: "Embedded store", rows: rowsOf(table.embedded) },
  {
    title: "Key-value store",
    rows: rowsOf(table.kvstore),
    notes:
      "A `KVSTORE_PERSECOND_` setting does not use the value of the main instance, unless its default says so. Credentials in a URL are used if `KVSTORE_AUTH` is not set.",
  },
  { title: "Object cache", rows: rowsOf(table.objcache) },
  {
    title: "Statistics",
    rows: rowsOf(table.stats),
    notes: `Each name in \`AGENTSTATS_MOGRIFIERS\` has three settings, with the name in capitals:

| Setting | Also read as | Meaning |
|---|---|---|
| \`AGENTSTATS_MOGRIFIER_<NAME>_PATTERN\` | \`DOG_STATSD_MOGRIFIER_<NAME>_PATTERN\` | Regular expression (RE2) that matches names of statistics. Required. |
| \`AGENTSTATS_MOGRIFIER_<NAME>_NAME\` | \`DOG_STATSD_MOGRIFIER_<NAME>_NAME\` | New name of the statistic. \`$0\` to \`$N\` are the groups of the match. Required. |
| \`AGENTSTATS_MOGRIFIER_<NAME>_TAGS\` | \`DOG_STATSD_MOGRIFIER_<NAME>_TAGS\` | Tags to add, \`k1:v1,k2:v2\`. Values may contain groups. |`,
  },
  {
    title: "Top keys",
    rows: rowsOf(table.topKeys),
    notes: "See [Top keys](top-keys.md).",
  },
  {
    title: "Log of decisions",
    rows: rowsOf(table.decisionLog),
    notes: "See [Log of decisions](decision-log.md).",
  },
  { title: "Logs", rows: rowsOf(table.logs) },
  {
    title: "Tracing",
    rows: rowsOf(table.tracing),
    notes:
      "The exporter also reads the variables of OpenTelemetry, for example `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_TIMEOUT`, `OTEL_EXPORTER_OTLP_COMPRESSION` and their `OTEL_EXPORTER_OTLP_TRACES_` forms.",
  },
];

/** The settings part of `tollgate serve --help`. */
export function settingsHelp(width = 100): string {
  const lines = ["An empty value counts as unset. The service reports all faults at startup."];
  for (const { title, rows } of sections) {
    lines.push("", `${title}:`);
    for (const row of rows) {
      const fallback = row.defaultText === "" ? "" : `, default ${row.defaultText}`;
      lines.push(`  ${row.name} (${row.kind.label}${fallback})`);
      if (row.aliases.length > 0) lines.push(...wrap(`also ${row.aliases.join(", ")}`, width, "      "));
      lines.push(...wrap(row.meaning.replaceAll("`", ""), width, "      "));
    }
  }
  return `${lines.join("\n")}\n`;
}

function wrap(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    if (line.length > indent.length && line.length + word.length > width) {
      lines.push(line.trimEnd());
      line = indent;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}

const preamble = `# Settings

<!-- Written by \`npm run manual -w packages/tollgate\` from the table in packages/tollgate/src/settings. -->

Every setting is an environment variable. An empty value counts as unset. If settings are invalid, the service reports
all faults and does not start. An unknown variable that looks like a setting causes a warning with the most similar name.

| Type | Syntax |
|---|---|
| boolean | \`true\`, \`false\`, also \`1\`, \`0\`, \`t\`, \`f\`, \`T\`, \`F\`, \`TRUE\`, \`FALSE\`, \`True\`, \`False\`. \`TRACING_ENABLED\` takes only \`true\` and \`false\`. |
| duration | One or more numbers with units: \`10s\`, \`1h30m\`, \`150us\`. Units: \`ns\`, \`us\`, \`ms\`, \`s\`, \`m\`, \`h\`. |
| whole number, port | \`10\`, also \`0x10\`, \`0b10\`, \`0o17\`, \`1_000\`; a leading \`0\` is octal. |
| list | Items separated by commas. |
| k1:v1,k2:v2 | Names and values. A value may contain colons, but no comma. |
| one of several words | In any case. |
| secret | Any text. Logs and messages never show it. |

The tables show other names of a setting below its name. They are the names of the widely used Go service, so that its
deployments can switch without a change. If you set two names of one setting to different values, the service does not start. If
\`REDIS_URL\`, \`MEMCACHE_HOST_PORT\` or \`MEMCACHE_SRV\` sets the store, names of statistics contain \`redis\` instead of
\`kvstore\`, or \`memcache\` instead of \`objcache\`. \`REDIS_STARTUP_INITIAL_INTERVAL\`, \`REDIS_STARTUP_MAX_INTERVAL\`,
\`REDIS_CLUSTER_PIPELINE_PARALLELISM\`, \`REDIS_PERSECOND_CLUSTER_PIPELINE_PARALLELISM\` and \`GOSTATS_*\` have no meaning
here. The service ignores them and names them in log lines with the reason. [Switching](switching.md) lists every
variable of the Go service.
`;

/** `docs/settings.md`. */
export function settingsManual(): string {
  const parts = sections.map(({ title, rows, notes }) => {
    const lines = [`## ${title}`, "", "| Setting | Type and default | Meaning |", "|---|---|---|"];
    for (const row of rows)
      lines.push(
        `| ${[row.name, ...row.aliases].map(landing).join("<br/>")} | ${typeCell(row)} | ${row.meaning} |`,
      );
    return `${lines.join("\n")}\n${notes === undefined ? "" : `\n${notes}\n`}`;
  });
  return [preamble, ...parts].join("\n");
}

/** A name with an anchor, to which log lines refer: `settings.md#PORT`. */
function landing(name: string): string {
  return `<a id="${name}"></a>\`${name}\``;
}

/** The type, and below it the default: a literal as code, a description as text. */
function typeCell({ kind, defaultText }: Setting<unknown>): string {
  if (defaultText === "") return kind.label;
  return `${kind.label}<br/>${defaultText.includes(" ") ? defaultText : `\`${defaultText}\``}`;
}
