import { rowsOf } from "./reading.ts";
import type { Setting } from "./setting.ts";
import { table } from "./table.ts";

/** One heading of the help and of the manual. */
interface Section {
  readonly title: string;
  readonly rows: readonly Setting<unknown>[];
  /** For the manual alone: Markdown. */
  readonly notes?: string;
}

const sections: readonly Section[] = [
  { title: "HTTP port", rows: rowsOf(table.http) },
  { title: "gRPC port", rows: rowsOf(table.grpc) },
  { title: "Debug port", rows: rowsOf(table.debug) },
  { title: "Size of requests", rows: rowsOf(table.requests) },
  { title: "Start and end", rows: rowsOf(table.lifecycle) },
  { title: "Configuration", rows: rowsOf(table.config) },
  {
    title: "Configuration from files",
    rows: rowsOf(table.files),
    notes:
      "The files are `RUNTIME_ROOT/RUNTIME_SUBDIRECTORY/RUNTIME_APPDIRECTORY/*.yaml`. When they are read again is told in [Where the rules come from](configuration-sources.md).",
  },
  { title: "Configuration from a management server (xDS)", rows: rowsOf(table.xds) },
  { title: "Decisions and answers", rows: rowsOf(table.decision) },
  { title: "Where hits are counted", rows: rowsOf(table.store) },
  { title: "Counting in this process", rows: rowsOf(table.embedded) },
  {
    title: "Key-value store",
    rows: rowsOf(table.kvstore),
    notes:
      "Each `KVSTORE_PERSECOND_` setting has the default that stands beside it, not the value of the main instance, unless it says so. Credentials in a URL are used where `KVSTORE_AUTH` is not set.",
  },
  { title: "Object cache", rows: rowsOf(table.objcache) },
  {
    title: "Statistics",
    rows: rowsOf(table.stats),
    notes: `Each name in \`AGENTSTATS_MOGRIFIERS\` has three settings of its own, with the name in capitals:

| Setting | Also read as | Meaning |
|---|---|---|
| \`AGENTSTATS_MOGRIFIER_<NAME>_PATTERN\` | \`DOG_STATSD_MOGRIFIER_<NAME>_PATTERN\` | Regular expression (RE2) that the name of a statistic must match. Required. |
| \`AGENTSTATS_MOGRIFIER_<NAME>_NAME\` | \`DOG_STATSD_MOGRIFIER_<NAME>_NAME\` | The name to send instead; \`$0\` to \`$N\` are the groups of the match. Required. |
| \`AGENTSTATS_MOGRIFIER_<NAME>_TAGS\` | \`DOG_STATSD_MOGRIFIER_<NAME>_TAGS\` | Tags to add, \`k1:v1,k2:v2\`; values may hold groups. |`,
  },
  { title: "Logs", rows: rowsOf(table.logs) },
  {
    title: "Tracing",
    rows: rowsOf(table.tracing),
    notes:
      "The exporter also reads OpenTelemetry's own variables, `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_TIMEOUT`, `OTEL_EXPORTER_OTLP_COMPRESSION` and their `OTEL_EXPORTER_OTLP_TRACES_` forms among them.",
  },
];

/** The settings part of `tollgate serve --help`. */
export function settingsHelp(width = 100): string {
  const lines = ["An empty value counts as none. Every fault is reported at start, all of them at once."];
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

Every setting is an environment variable. What is wrong is reported at start, all of it at once, and the service
does not start. An empty value counts as none. A variable that looks like a setting and is none gets a warning
with the nearest name.

| Type | How it is written |
|---|---|
| boolean | \`true\`, \`false\`, also \`1\`, \`0\`, \`t\`, \`f\`, \`T\`, \`F\`, \`TRUE\`, \`FALSE\`, \`True\`, \`False\`. \`TRACING_ENABLED\` takes only \`true\` and \`false\`. |
| duration | A number and its unit, several in a row: \`10s\`, \`1h30m\`, \`150us\`. Units: \`ns\`, \`us\`, \`ms\`, \`s\`, \`m\`, \`h\`. |
| whole number, port | \`10\`, also \`0x10\`, \`0b10\`, \`0o17\`, \`1_000\`; a leading \`0\` is octal. |
| list | Items with commas between. |
| k1:v1,k2:v2 | Names and values; a value may hold colons, but no comma. |
| one of several words | In any case. |
| secret | Any text. It never shows in a log or a message. |

The second column holds the other names under which a setting is read: those of the widely used Go service, so that
a deployment can switch over as it is. Setting two names of one setting to different values is an error. Where the
store is given as \`REDIS_URL\`, \`MEMCACHE_HOST_PORT\` or \`MEMCACHE_SRV\`, statistics whose name would hold \`kvstore\` or
\`objcache\` hold \`redis\` or \`memcache\` instead. \`REDIS_STARTUP_*\`, \`REDIS_CLUSTER_PIPELINE_PARALLELISM\`,
\`REDIS_PERSECOND_CLUSTER_PIPELINE_PARALLELISM\` and \`GOSTATS_*\` have no meaning here and are ignored, which one line of
the log says.
`;

/** `docs/settings.md`. */
export function settingsManual(): string {
  const parts = sections.map(({ title, rows, notes }) => {
    const lines = [
      `## ${title}`,
      "",
      "| Setting | Also read as | Type | Default | Meaning |",
      "|---|---|---|---|---|",
    ];
    for (const row of rows)
      lines.push(
        `| \`${row.name}\` | ${row.aliases.map(code).join(", ")} | ${row.kind.label} | ${defaultCell(row)} | ${row.meaning} |`,
      );
    return `${lines.join("\n")}\n${notes === undefined ? "" : `\n${notes}\n`}`;
  });
  return [preamble, ...parts].join("\n");
}

function code(name: string): string {
  return `\`${name}\``;
}

/** A literal default as code, a described one as text. */
function defaultCell(row: Setting<unknown>): string {
  if (row.defaultText === "" || row.defaultText.includes(" ")) return row.defaultText;
  return code(row.defaultText);
}
