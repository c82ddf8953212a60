import { domainsOf, type LoadOptions } from "./check-configs.ts";
import { compileRules } from "./compile.ts";
import type { CompiledRules } from "./compiled-rules.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { DraftConfig } from "./draft.ts";
import { readRules, readWhole } from "./read-rules.ts";
import { Report } from "./report.ts";
import { type RateLimitConfigResource, readResource } from "./resource.ts";
import { IndexedRuleSet } from "./rule-set.ts";
import { Source } from "./source-text.ts";
import { TextIdsBuilder } from "./text-ids-builder.ts";

/** One configuration file. */
export interface RuleFile {
  /** The path as the user wrote it, for messages. Files are processed in the order of their names. */
  readonly name: string;
  /** The content of the file. */
  readonly text: string;
  /** Whether messages may quote the text. Default true. */
  readonly quotable?: boolean;
}

/** The rules of a set of files, or their faults. */
export interface LoadResult {
  /** The rules, a `RuleSet`. Undefined if there are errors: a configuration is never loaded in part. */
  readonly ruleSet: IndexedRuleSet | undefined;
  /** All errors and warnings of all files, in the order of files and lines. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Whether a file beside the rules holds tests for `tollgate test`: its name ends in `.test.yaml`, and it has `tests` in
 * place of `descriptors`. Other files with such a name are rules.
 */
export function isTestFile({ name, text }: RuleFile): boolean {
  return name.endsWith(".test.yaml") && /^tests[ \t]*:/m.test(text) && !/^descriptors[ \t]*:/m.test(text);
}

/** Maximum UTF-16 code units of a file: ten times the largest known configuration. */
const MAX_FILE_LENGTH = 32 * 1024 * 1024;

/** The result of a compilation, as plain data that threads can exchange. */
export interface CompileResult {
  /** Undefined if there are errors. */
  readonly compiled: CompiledRules | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Loads a set of files. Never throws: faults of the files become diagnostics.
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { loadRules } from "@tollway/tollgate";
 *
 * const text = readFileSync("limits/config/shop.yaml", "utf8");
 * const { ruleSet, diagnostics } = loadRules([{ name: "shop.yaml", text }], { mergeDomains: false });
 * console.log(diagnostics.length, ruleSet?.match("shop", [{ key: "remote_address", value: "192.0.2.1" }])?.rule);
 * ```
 */
export function loadRules(files: readonly RuleFile[], options: LoadOptions): LoadResult {
  return install(compileFiles(files, options));
}

/** Loads a set of xDS resources. Never throws: faults of the resources become diagnostics. */
export function loadResources(
  resources: readonly RateLimitConfigResource[],
  options: LoadOptions,
): LoadResult {
  return install(compileResources(resources, options));
}

/**
 * Reads, checks and compiles a set of files. Never throws: faults of the files become diagnostics.
 * @param whole names of files that are not read in parts
 */
export function compileFiles(
  files: readonly RuleFile[],
  options: LoadOptions,
  whole: ReadonlySet<string> = new Set(),
): CompileResult {
  const report = new Report();
  const configs: DraftConfig[] = [];
  for (const file of inOrder(files.filter((one) => !isTestFile(one)))) {
    const config = readFile(file, report, whole.has(file.name));
    if (config !== undefined) configs.push(config);
  }
  const result = finish(configs, options, report);
  return report.readAgain.size > 0 ? compileFiles(files, options, whole.union(report.readAgain)) : result;
}

/** Checks and compiles a set of xDS resources. Never throws: faults of the resources become diagnostics. */
export function compileResources(
  resources: readonly RateLimitConfigResource[],
  options: LoadOptions,
): CompileResult {
  const report = new Report();
  const configs = inOrder(resources).map((resource) => readResource(resource, report));
  return finish(configs, options, report);
}

function install({ compiled, diagnostics }: CompileResult): LoadResult {
  return { ruleSet: compiled && new IndexedRuleSet(compiled), diagnostics };
}

/** Sorts by name, so that merged domains are equal in every process and after every reload. */
function inOrder<Named extends { readonly name: string }>(all: readonly Named[]): readonly Named[] {
  return all.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function readFile(file: RuleFile, report: Report, isWhole: boolean): DraftConfig | undefined {
  if (file.text.length > MAX_FILE_LENGTH) {
    const location = { file: file.name, line: 0, column: 0 };
    report.add("too-large", location, `the file is larger than ${MAX_FILE_LENGTH} characters`);
    report.unread.add(file.name);
    return undefined;
  }
  const source = new Source(file.name, file.text);
  report.addSource(source, file.quotable ?? true);
  const broken = source.text.indexOf("\uFFFD");
  if (broken >= 0) {
    report.add("invalid-utf8", source.locate(broken), "the file is not valid UTF-8 here: save it as UTF-8");
  }
  return isWhole ? readWhole(source, report) : readRules(source, report);
}

function finish(configs: readonly DraftConfig[], options: LoadOptions, report: Report): CompileResult {
  const domains = domainsOf(configs, options, report);
  const texts = new TextIdsBuilder();
  const compiled = compileRules(
    domains.map((domain) => ({
      name: domain.name,
      descriptors: domain.descriptors(options, texts, report),
    })),
    texts,
  );
  for (const domain of domains) domain.finish(report);
  return { compiled: report.hasErrors ? undefined : compiled, diagnostics: report.finish() };
}
