import { checkConfigs, type LoadOptions } from "./check.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { DraftConfig } from "./draft.ts";
import { readConfig } from "./read-config.ts";
import { Reading } from "./reading.ts";
import { Report } from "./report.ts";
import { type RateLimitConfigResource, readResource } from "./resource.ts";
import { IndexedRuleSet } from "./rule-set.ts";
import { Source } from "./source.ts";
import { parseYaml } from "./yaml-node.ts";

/** One configuration file. */
export interface RuleFile {
  /** As messages call it: the path as the user wrote it. Files are taken in the order of their names. */
  readonly name: string;
  readonly text: string;
  /** False: messages must not quote the text. Default true. */
  readonly quotable?: boolean;
}

export interface LoadResult {
  /** Undefined when there are errors: there is no half of a configuration. */
  readonly ruleSet: IndexedRuleSet | undefined;
  /** All errors and warnings of all files, in the order of files and lines. */
  readonly diagnostics: readonly Diagnostic[];
}

/** UTF-16 code units; ten times the largest configuration that we know of. */
const MAX_FILE_LENGTH = 32 * 1024 * 1024;

/** Loads a set of files. Never throws, whatever they contain. */
export function loadRules(files: readonly RuleFile[], options: LoadOptions): LoadResult {
  const report = new Report();
  const configs: DraftConfig[] = [];
  for (const file of inOrder(files)) {
    const config = readFile(file, report);
    if (config !== undefined) configs.push(config);
  }
  return finish(configs, options, configs.length === files.length, report);
}

/** Loads a set of xDS resources. Never throws, whatever they contain. */
export function loadResources(
  resources: readonly RateLimitConfigResource[],
  options: LoadOptions,
): LoadResult {
  const report = new Report();
  const configs = inOrder(resources).map((resource) => readResource(resource, report));
  return finish(configs, options, true, report);
}

/** By name, so that merged domains come out the same in every process and after every reload. */
function inOrder<Named extends { readonly name: string }>(all: readonly Named[]): readonly Named[] {
  return all.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function readFile(file: RuleFile, report: Report): DraftConfig | undefined {
  if (file.text.length > MAX_FILE_LENGTH) {
    const location = { file: file.name, line: 0, column: 0 };
    report.add("too-large", location, `the file is larger than ${MAX_FILE_LENGTH} characters`);
    return undefined;
  }
  const source = new Source(file.name, file.text);
  report.addSource(file.name, source.lines(), file.quotable ?? true);
  const broken = source.text.indexOf("\uFFFD");
  if (broken >= 0) {
    report.add("invalid-utf8", source.locate(broken), "the file is not valid UTF-8 here: save it as UTF-8");
  }
  const root = parseYaml(source, report);
  return root === undefined ? undefined : readConfig(root, new Reading(source, report));
}

function finish(
  configs: readonly DraftConfig[],
  options: LoadOptions,
  complete: boolean,
  report: Report,
): LoadResult {
  const domains = checkConfigs(configs, options, complete, report);
  const ruleSet = report.hasErrors ? undefined : new IndexedRuleSet(domains);
  return { ruleSet, diagnostics: report.finish() };
}
