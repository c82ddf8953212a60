/** The public types of Tollgate's library: correct use compiles, incorrect use does not. */
import {
  type Addresses,
  type Diagnostic,
  formatDiagnostic,
  type LoadedSettings,
  type LoadResult,
  loadRules,
  loadSettings,
  type Rule,
  type RuleFile,
  type RuleSet,
  type Service,
  type Settings,
  SettingsError,
  type Severity,
} from "@tollway/tollgate";
import type { Holds, Same } from "../../../../tools/type-checks.ts";

export type Results = [
  Holds<Same<ReturnType<typeof loadSettings>, LoadedSettings>>,
  Holds<Same<LoadedSettings["settings"], Settings>>,
  Holds<Same<ReturnType<typeof loadRules>, LoadResult>>,
  Holds<Same<SettingsError["code"], "INVALID_SETTINGS">>,
  Holds<Same<ReturnType<RuleSet["rules"]>, Iterable<Rule>>>,
  Holds<Same<Service["addresses"], Addresses>>,
  Holds<Same<Service["opened"], Promise<void>>>,
  Holds<Same<Severity, "error" | "warning">>,
];

const file: RuleFile = { name: "config/web.yaml", text: "domain: web" };

export function rightUse(options: Parameters<typeof loadRules>[1]): string[] {
  const { ruleSet, diagnostics } = loadRules([file], options);
  const rules: RuleSet | undefined = ruleSet;
  const loaded = loadSettings({ PORT: "8080", HOST: undefined });
  return [...diagnostics.map(formatDiagnostic), ...(rules?.domains ?? []), ...loaded.warnings];
}

export async function stop(service: Service): Promise<void> {
  service.reload();
  await service.stop({ delay: true });
}

export function wrongUse(service: Service, found: Diagnostic, rules: RuleSet, settings: Settings): void {
  // @ts-expect-error: a file has a text
  loadRules([{ name: "web.yaml" }], {});
  // @ts-expect-error: rules are a list of files, not a text
  loadRules("domain: web", {});
  // @ts-expect-error: a variable of the environment is a text
  loadSettings({ PORT: 8080 });
  // @ts-expect-error: a diagnostic is read-only
  found.message = "";
  // @ts-expect-error: there are two severities
  const severity: Severity = "info";
  // @ts-expect-error: the rules are missing after an error
  const ruleSet: RuleSet = loadRules([], {} as never).ruleSet;
  // @ts-expect-error: a rule set does not change
  rules.domains.push("other");
  // @ts-expect-error: settings do not change
  settings.embedded = undefined;
  // @ts-expect-error: an address is read-only
  service.addresses.http = "";
  // @ts-expect-error: faults are objects, not texts
  new SettingsError(["PORT is wrong"]);
  void [severity, ruleSet];
}
