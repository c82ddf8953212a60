import { COMPILER_THREAD } from "../installation.ts";
import type { Logger } from "../observe/log.ts";
import type { LoadOptions } from "../rules/check-configs.ts";
import type { Settings } from "../settings/settings.ts";
import { FileSource } from "../sources/files.ts";
import { RuleCompiler } from "../sources/rule-compiler.ts";
import type { RuleSource } from "../sources/source.ts";
import { XdsSource } from "../sources/xds.ts";
import type { ActiveRules } from "./active-rules.ts";
import { fixedWindowsOnlyOf } from "./fixed-windows-only.ts";

/** Creates the configured source of rules. */
export function openSource(settings: Settings, rules: ActiveRules, log: Logger): RuleSource {
  const events = {
    onRules: rules.replace.bind(rules),
    onError: rules.refuse.bind(rules),
    onRepeatedError: rules.countRefusal.bind(rules),
  };
  const compiler = new RuleCompiler(COMPILER_THREAD);
  const options = { ...loadOptionsOf(settings), compiler, log };
  if (settings.config.type === "xds") {
    return new XdsSource({ ...settings.xds, ...options }, events);
  }
  return new FileSource({ ...settings.files, ...options }, events);
}

/** The options for loading rules under these settings. */
export function loadOptionsOf({ config, store }: Pick<Settings, "config" | "store">): LoadOptions {
  const { mergeDomains, calendarMonths } = config;
  return { mergeDomains, calendarMonths, fixedWindowsOnly: fixedWindowsOnlyOf(store.backend) };
}
