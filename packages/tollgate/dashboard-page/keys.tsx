import { useState } from "preact/hooks";
import type { KeyCount, KeysOfRules, RuleKeys, RuleRow } from "../src/dashboard/messages.ts";
import { count, duration, percent } from "./format.ts";

/** The keys of a row's rule; undefined if they are not known. */
export function keysOf({ rules }: KeysOfRules, { rule }: RuleRow): RuleKeys | undefined {
  return rules.find((keys) => keys.rule === rule);
}

/** `user=ann, path=/login` */
export function keyText({ entries }: KeyCount): string {
  return entries.map(([key, value]) => `${key}=${value}`).join(", ");
}

/** The descriptor in the notation of the form that explains a request: commas in values are escaped. */
export function descriptorText({ entries }: KeyCount): string {
  return entries.map(([key, value]) => `${key}=${value.replace(/[\\,]/g, "\\$&")}`).join(",");
}

interface KeyListProps {
  readonly title: string;
  readonly keys: readonly KeyCount[];
  readonly total: number;
  readonly seconds: number;
  readonly refused: boolean;
  readonly onExplain: (key: KeyCount) => void;
}

/** Keys with the most hits, as bars. */
export function KeyList({ title, keys, total, seconds, refused, onExplain }: KeyListProps) {
  return (
    <section>
      <h3>{title}</h3>
      {keys.length === 0 && <p class="muted">None in {duration(seconds)}.</p>}
      <ol class="keys">
        {keys.map((key) => (
          <li key={keyText(key)}>
            <span class="mono">{keyText(key)}</span>
            <span class="number" title={`of ${count(total)} in ${duration(seconds)}`}>
              {count(key.hits)}
              {key.error > 0 && <span class="muted"> to {count(key.hits + key.error)}</span>}
            </span>
            <button type="button" class="link" onClick={() => onExplain(key)}>
              explain
            </button>
            <meter class={refused ? "refused" : ""} min={0} max={Math.max(total, 1)} value={key.hits}>
              {percent(key.hits, total)}
            </meter>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The reason why keys are hidden, and a field for the token that shows them. */
export function HiddenKeys({ keys, setToken }: { keys: KeysOfRules; setToken: (token: string) => void }) {
  const [text, setText] = useState("");
  if (keys.shown) return null;
  return (
    <form
      class="hidden-keys"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(text);
        setText("");
      }}
    >
      <p>{keys.reason}</p>
      <label>
        Token of the admin API{" "}
        <input
          type="password"
          autocomplete="off"
          required
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit">Show keys</button>
    </form>
  );
}
