import { COMPILER_THREAD } from "../installation.ts";
import type { Logger } from "../observe/log.ts";
import type { Settings } from "../settings/settings.ts";
import { FileSource } from "../sources/files.ts";
import { RuleCompiler } from "../sources/rule-compiler.ts";
import type { RuleSource } from "../sources/source.ts";
import { XdsSource } from "../sources/xds.ts";
import type { ActiveRules } from "./active-rules.ts";

/** Creates the configured source of rules. */
export function openSource(settings: Settings, rules: ActiveRules, log: Logger): RuleSource {
  const events = {
    onRules: rules.replace.bind(rules),
    onError: rules.refuse.bind(rules),
    onRepeatedError: rules.countRefusal.bind(rules),
  };
  const { mergeDomains } = settings.config;
  const compiler = new RuleCompiler(COMPILER_THREAD);
  if (settings.config.type === "xds") {
    return new XdsSource({ ...settings.xds, mergeDomains, compiler, log }, events);
  }
  return new FileSource({ ...settings.files, mergeDomains, compiler, log }, events);
}
