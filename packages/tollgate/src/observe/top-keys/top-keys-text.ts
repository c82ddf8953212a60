import type { RuleTopKeys, TopKey, TopKeysSnapshot } from "./top-keys.ts";

/** The page `/stats/top` as text. */
export function topKeysText({ from, to, rules, refused }: TopKeysSnapshot, onlyRefused: boolean): string {
  const seconds = Math.max(1, Math.round((to - from) / 1000));
  const head = `hits of the last ${seconds} s; +N: at most N hits more`;
  const lists = [
    ...keyList("most refused", refused, (key) => `  ${key.rule}`),
    ...(onlyRefused ? [] : rules.flatMap(ruleLists)),
  ];
  if (lists.length === 0) lists.push("", onlyRefused ? "nothing was refused" : "no rule has hits");
  return `${[head, ...lists].join("\n")}\n`;
}

function ruleLists({ rule, file, hits, refused, keys }: RuleTopKeys): string[] {
  const place = file === "" ? "" : ` (${file})`;
  return keyList(`${rule}${place}: ${hits} hits, ${refused} refused`, keys, () => "");
}

function keyList<Key extends TopKey>(
  title: string,
  keys: readonly Key[],
  more: (key: Key) => string,
): string[] {
  if (keys.length === 0) return [];
  const counts = keys.map(({ hits, error }) => (error === 0 ? `${hits}` : `${hits} +${error}`));
  const width = Math.max(...counts.map((count) => count.length));
  return [
    "",
    title,
    ...keys.map((key, index) => `  ${counts[index]!.padStart(width)}  ${entriesText(key)}${more(key)}`),
  ];
}

function entriesText({ entries }: TopKey): string {
  return entries.map(([key, value]) => `${quoted(key)}=${quoted(value)}`).join(",");
}

/** A text with other characters than visible ones is quoted, so that a caller cannot forge a line. */
function quoted(text: string): string {
  return /^[\p{L}\p{N}\p{P}\p{S}]*$/u.test(text) && !/[",=]/.test(text) ? text : JSON.stringify(text);
}
