import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runCheck } from "../../src/commands/check.ts";
import { runExplain } from "../../src/commands/explain.ts";
import { cacheKeyStem, LONGEST_KEYS } from "../../src/decision/cache-key.ts";
import { replaced } from "../../src/decision/replaces.ts";
import { unitNames } from "../../src/protocol/units.ts";
import { formatDiagnostic } from "../../src/rules/diagnostic.ts";
import { diagnosticCodes } from "../../src/rules/diagnostic-codes.ts";
import { fields } from "../../src/rules/fields.ts";
import type { Limit } from "../../src/rules/limit.ts";
import { loadRules } from "../../src/rules/load-rules.ts";
import type { Match, Rule } from "../../src/rules/rule.ts";
import { entriesOf, metricKeyOf } from "./helpers.ts";

const path = join(import.meta.dirname, "../../../../docs/rules.md");
const manual = readFileSync(path, "utf8");

const keys = { cacheKeyPrefix: "", longestKey: LONGEST_KEYS.embedded };

const cwd = mkdtempSync(join(tmpdir(), "tollgate-docs-"));
after(() => rmSync(cwd, { recursive: true }));

interface RuleFile {
  readonly name: string;
  readonly text: string;
}

/** One row of an example's table, by the titles of the columns. */
interface Row {
  readonly ask: string;
  readonly answer: string;
  readonly "metric key"?: string;
  readonly counter?: string;
}

/** An example: its files, and the tables and consoles of the manual that follow them. */
interface Example {
  readonly heading: string;
  readonly files: RuleFile[];
  readonly rows: Row[];
  readonly consoles: string[];
}

function examples(): readonly Example[] {
  const found: Example[] = [];
  let heading = "";
  const part =
    /^## (?<heading>.+)$|^```(?<language>yaml|console)(?: (?<name>\S+))?\n(?<body>[\s\S]*?)^```$|^\| ask [\s\S]*?(?=\n\n)/gm;
  for (const match of manual.matchAll(part)) {
    const { heading: title, language, name, body = "" } = match.groups ?? {};
    const last = found.at(-1);
    if (title !== undefined) heading = title;
    else if (language === "yaml") {
      const file = { name: name ?? "rules.yaml", text: body };
      if (
        name !== undefined &&
        last !== undefined &&
        last.files[0]?.name !== "rules.yaml" &&
        last.rows.length === 0
      ) {
        last.files.push(file);
      } else found.push({ heading, files: [file], rows: [], consoles: [] });
    } else if (language === "console") last?.consoles.push(body);
    else last?.rows.push(...tableRows(match[0]));
  }
  return found;
}

function tableRows(table: string): Row[] {
  const cells = (line: string) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("\\|", "|"));
  const [head, , ...rows] = table.split("\n");
  const names = cells(head ?? "");
  return rows.map(
    (row) => Object.fromEntries(cells(row).map((cell, index) => [names[index], cell])) as unknown as Row,
  );
}

function answerOf(rule: Rule | undefined, isReplaced: boolean): string {
  if (rule === undefined) return "no limit";
  if (isReplaced) return "replaced";
  const limit = rule.unlimited
    ? "unlimited"
    : (rule.limits?.map(limitText).join(" and ") ??
      `${rule.requestsPerUnit} per ${unitNames[rule.unit].toLowerCase()}`);
  return `${limit}${rule.shadowMode ? ", shadow mode" : ""}${rule.quotaMode ? ", quota mode" : ""}`;
}

function limitText({ requestsPerUnit, unit, multiplier, algorithm, burst, ...rest }: Limit): string {
  const name = unitNames[unit].toLowerCase();
  const window = multiplier === 1 ? name : `${multiplier} ${name}s`;
  const settings = {
    fixed_window: rest.acceptedOnly && !rest.isListed ? ", accepted hits" : "",
    sliding_window: ", sliding window",
    token_bucket: `, token bucket of ${burst}`,
  };
  const calendar = rest.calendar === undefined ? "" : ` in ${rest.calendar.timeZone}`;
  return `${requestsPerUnit} per ${window}${calendar}${settings[algorithm]}`;
}

function counterOf(domain: string, descriptor: string, match: Match | undefined): string {
  if (match === undefined) return "";
  const limits = match.rule.limits ?? [undefined];
  const stems = limits.map((limit) => {
    const shape = limit && {
      part: limit.keyPart,
      isListed: limit.isListed,
      isPlain: !limit.acceptedOnly,
      longestPart: limit.keyPart.length,
    };
    return cacheKeyStem(keys, domain, entriesOf(descriptor), match, match.rule.unit, shape);
  });
  return stems.map((stem) => `\`${stem.replace(/:$/, "")}\``).join(" and ");
}

async function run(command: string): Promise<string> {
  let out = "";
  const io = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (out += text) },
    env: {},
    cwd,
  };
  const [npx, program, name, ...argv] = command.split(" ");
  assert.equal(`${npx} ${program}`, "npx tollgate");
  if (name === "check") await runCheck(argv, io);
  else await runExplain(argv, io, Date.UTC(2026, 0, 2, 3, 4, 5));
  return out;
}

const all = examples();

test("the manual has its examples", () => {
  assert.ok(all.length >= 14, `${all.length} examples`);
  assert.ok(all.flatMap(({ rows }) => rows).length >= 40);
  for (const { heading, rows, consoles } of all) {
    assert.ok(rows.length + consoles.length > 0, `an example under "${heading}" has no table and no console`);
  }
});

for (const { heading, files, rows, consoles } of all) {
  const title = `docs/rules.md, ${heading}: ${files.map(({ name }) => name).join(", ")}`;
  if (rows.length > 0) {
    const { ruleSet, diagnostics } = loadRules(files, { mergeDomains: files.length > 1 });
    test(`${title} loads without diagnostics`, () => assert.deepEqual(diagnostics.map(formatDiagnostic), []));
    for (const row of rows) {
      test(`${title}: ${row.ask} is ${row.answer}`, () => {
        assert.ok(ruleSet);
        const [domain = ""] = ruleSet.domains;
        const asked = row.ask.split(" + ").map((cell) => cell.slice(1, -1));
        const matches = asked.map((descriptor) => ruleSet.match(domain, entriesOf(descriptor)));
        const dropped = replaced(matches.map((match) => match?.rule));
        const answers = matches.map((match, index) => answerOf(match?.rule, dropped[index] ?? false));
        assert.equal(answers.join(" + "), row.answer);
        const metricKey = metricKeyOf(matches[0]);
        if ("metric key" in row)
          assert.equal(metricKey === undefined ? "" : `\`${metricKey}\``, row["metric key"]);
        if ("counter" in row) assert.equal(counterOf(domain, asked[0] ?? "", matches[0]), row.counter);
      });
    }
  }
  for (const console of consoles) {
    const [first = "", ...output] = console.split("\n");
    test(`docs/rules.md, ${heading}: ${first}`, async () => {
      for (const { name, text } of files) writeFileSync(join(cwd, name), text);
      assert.equal(await run(first.slice(2)), output.join("\n"));
    });
  }
}

const places = {
  file: "top level",
  descriptor: "descriptor",
  rate_limit: "`rate_limit`",
  replaces: "`replaces`",
  calendar: "`calendar`",
};

const tables: Readonly<Record<string, readonly string[]>> = {
  fields: [
    "| in | field | required | meaning |",
    "|---|---|---|---|",
    ...fields.map(({ place, name, required, meaning }) => {
      const need =
        required === true ? "yes" : required === false ? "" : required.replace("unlimited", "`unlimited`");
      return `| ${places[place]} | \`${name}\` | ${need} | ${meaning} |`;
    }),
  ],
  diagnostics: [
    "| id | | meaning |",
    "|---|---|---|",
    ...Object.entries(diagnosticCodes).map(
      ([code, { severity, meaning }]) => `| <a id="${code}"></a>\`${code}\` | ${severity} | ${meaning} |`,
    ),
  ],
};

for (const [name, lines] of Object.entries(tables)) {
  test(`docs/rules.md: the table of ${name} equals the loader's (UPDATE=1 rewrites it)`, () => {
    const section = new RegExp(`<!-- ${name} -->\n[\\s\\S]*?<!-- /${name} -->`);
    const text = readFileSync(path, "utf8");
    const right = text.replace(section, () => [`<!-- ${name} -->`, ...lines, `<!-- /${name} -->`].join("\n"));
    if (process.env.UPDATE) writeFileSync(path, right);
    assert.match(text, section);
    assert.equal(readFileSync(path, "utf8"), right);
  });
}
