import { useRef } from "preact/hooks";
import type { Frame, KeyCount, Left, RuleRow } from "../src/dashboard/messages.ts";
import type { View } from "./connection.ts";
import { count, rate } from "./format.ts";
import { Place } from "./place.tsx";
import { RuleDetails } from "./rule-details.tsx";
import { Sparkline } from "./sparkline.tsx";

interface RulesProps {
  readonly frame: Frame;
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly onExplain: (row: RuleRow, key?: KeyCount) => void;
  readonly setToken: (token: string) => void;
}

const ORDERS = [
  ["refused", "Most refused"],
  ["hits", "Most hits"],
  ["name", "Name"],
] as const;
const EMPTY_HISTORY = { hits: [], refused: [] };

/** All rules, a page at a time. */
export function Rules({ frame, view, setView, onExplain, setToken }: RulesProps) {
  const { rules } = frame;
  const body = useRef<HTMLTableSectionElement>(null);
  function move(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = [...body.current!.querySelectorAll<HTMLButtonElement>("button.rule")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (at < 0) return;
    event.preventDefault();
    buttons[at + step]?.focus();
  }
  return (
    <section id="rules" class="panel" aria-labelledby="rules-title">
      <header>
        <h2 id="rules-title">Rules</h2>
        <p class="muted">
          {count(rules.configured)} configured, {count(rules.active)} with hits in the last 5 minutes
        </p>
        <input
          id="search"
          type="search"
          placeholder="Search rules ( / )"
          aria-label="Search rules"
          maxLength={200}
          value={view.search}
          onInput={({ currentTarget }) => setView({ search: currentTarget.value, offset: 0 })}
        />
        <label>
          Order{" "}
          <select
            value={view.order}
            onChange={({ currentTarget }) =>
              setView({ order: currentTarget.value as View["order"], offset: 0 })
            }
          >
            {ORDERS.map(([order, name]) => (
              <option key={order} value={order}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <a href="rlconfig">as text</a>
      </header>
      <table class="rules">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Limit</th>
            <th scope="col" class="number">
              Hits/s
            </th>
            <th scope="col" class="number">
              Near/s
            </th>
            <th scope="col" class="number">
              Refused/s
            </th>
            <th scope="col" class="number">
              Left
            </th>
            <th scope="col">5 minutes</th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={move}>
          {rules.rows.map((row) => (
            <Row
              key={row.key}
              row={row}
              frame={frame}
              isOpen={view.rule === row.key}
              onToggle={() => setView({ rule: view.rule === row.key ? "" : row.key })}
              onExplain={(key) => onExplain(row, key)}
              setToken={setToken}
            />
          ))}
        </tbody>
      </table>
      {rules.rows.length === 0 && (
        <p class="empty">
          {view.search === "" ? "No rule is configured." : `No rule has "${view.search}" in its name.`}
        </p>
      )}
      <Pager rules={rules} view={view} setView={setView} />
    </section>
  );
}

interface RowProps {
  readonly row: RuleRow;
  readonly frame: Frame;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onExplain: (key?: KeyCount) => void;
  readonly setToken: (token: string) => void;
}

function Row({ row, frame, isOpen, onToggle, onExplain, setToken }: RowProps) {
  const { rates, history, left, limit, place, modes, origin, name } = row;
  const refusing = rates.refused > 0 ? "refusing" : "";
  return (
    <>
      <tr class={refusing} data-rule={row.key}>
        <td class="key">
          <button type="button" class="rule mono" aria-expanded={isOpen} onClick={onToggle}>
            {row.key}
          </button>
          {name !== "" && <span class="tag">{name}</span>}
          {modes
            .filter((mode) => mode !== "unlimited")
            .map((mode) => (
              <span key={mode} class="tag warn">
                {mode}
              </span>
            ))}
          {row.isOneOfSeveral && <span class="tag">one of its limits</span>}
          {origin === "request" && <span class="tag">limit of the request</span>}
          {origin === "removed" && <span class="tag">removed</span>}
        </td>
        <td data-label="Limit">{limit}</td>
        <td class="number" data-label="Hits/s">
          {rate(rates.hits)}
        </td>
        <td class={`number ${rates.near > 0 ? "near" : ""}`} data-label="Near/s">
          {rate(rates.near)}
        </td>
        <td class={`number ${refusing && "over"}`} data-label="Refused/s">
          {rates.shadowed > 0 ? (
            <span title="allowed by shadow mode">({rate(rates.shadowed)})</span>
          ) : (
            rate(rates.refused)
          )}
        </td>
        <td class="number" data-label="Left">
          {left === undefined ? <span class="muted">–</span> : <Remaining left={left} />}
        </td>
        <td class="trend">
          <Sparkline history={history ?? EMPTY_HISTORY} width={120} height={22} label={row.key} />
        </td>
        <td data-label="Source">{place && <Place place={place} />}</td>
      </tr>
      {isOpen && (
        <tr class="details">
          <td colSpan={8}>
            <RuleDetails row={row} frame={frame} onExplain={onExplain} setToken={setToken} />
          </td>
        </tr>
      )}
    </>
  );
}

function Remaining({ left }: { left: Left }) {
  const { key, remaining } = left;
  const text = key === undefined ? "in its counter" : `for ${key}, the key with the most hits`;
  return (
    <span title={`${count(remaining)} left ${text}`} class={remaining === 0 ? "near" : ""}>
      {count(remaining)}
      {key !== undefined && <span class="muted">*</span>}
    </span>
  );
}

function Pager({ rules, view, setView }: Pick<RulesProps, "view" | "setView"> & { rules: Frame["rules"] }) {
  const first = rules.offset + 1;
  const last = rules.offset + rules.rows.length;
  return (
    <nav class="pager" aria-label="Pages of rules">
      <button
        type="button"
        disabled={view.offset === 0}
        onClick={() => setView({ offset: Math.max(0, view.offset - view.limit) })}
      >
        Previous
      </button>
      <span>
        {rules.rows.length === 0 ? "0" : `${count(first)}–${count(last)}`} of {count(rules.matching)}
      </span>
      <button
        type="button"
        disabled={last >= rules.matching}
        onClick={() => setView({ offset: view.offset + view.limit })}
      >
        Next
      </button>
      <label>
        Show{" "}
        <select
          value={String(view.limit)}
          onChange={({ currentTarget }) => setView({ limit: Number(currentTarget.value), offset: 0 })}
        >
          {[10, 25, 50, 100, 200].map((limit) => (
            <option key={limit}>{limit}</option>
          ))}
        </select>
      </label>
    </nav>
  );
}
