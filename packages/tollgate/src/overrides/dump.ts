/** Overrides and grants as `/rlconfig` shows them. */
import { oneLine } from "../rules/one-line.ts";
import type { RuleSet } from "../rules/rule.ts";
import type { AdjustmentRecord } from "./record.ts";
import type { ActiveOverrides } from "./table.ts";
import { adjustmentNotes } from "./texts.ts";

export interface ChangeDescription {
  readonly id: string;
  readonly kind: AdjustmentRecord["kind"];
  readonly domain: string;
  readonly descriptor: string;
  /** Empty if no rule limits the descriptor now. */
  readonly effect: readonly string[];
}

export function changesOf(
  overrides: ActiveOverrides | undefined,
  ruleSet: RuleSet | undefined,
): readonly ChangeDescription[] {
  const now = overrides?.now() ?? 0;
  return (overrides?.current?.records ?? []).map((record) => {
    const { id, kind, domain, entries } = record;
    const match = ruleSet?.match(domain, entries);
    const descriptor = entries.map(({ key, value }) => `${key}=${value}`).join(",");
    const effect = match === undefined ? [] : adjustmentNotes(match, [record], now);
    return { id, kind, domain, descriptor, effect };
  });
}

/** `override acme: edge tenant=acme: limit 1000, raised to 1500 until 18:00 UTC by override acme of alice` */
export function changeLine({ id, kind, domain, descriptor, effect }: ChangeDescription): string {
  const what = effect.length === 0 ? "no rule limits this descriptor now" : effect.join("; ");
  return `${kind} ${id}: ${oneLine(`${domain} ${descriptor}: ${what}`)}\n`;
}
