import type { Frame, KeyCount, RuleRow } from "../src/dashboard/messages.ts";
import { count, duration } from "./format.ts";
import { HiddenKeys, KeyList, keysOf } from "./keys.tsx";
import { Place } from "./place.tsx";

interface RuleDetailsProps {
  readonly row: RuleRow;
  readonly frame: Frame;
  readonly onExplain: (key?: KeyCount) => void;
  readonly setToken: (token: string) => void;
}

/** The details that an open row shows. */
export function RuleDetails({ row, frame, onExplain, setToken }: RuleDetailsProps) {
  const keys = keysOf(frame.keys, row);
  const seconds = keys === undefined ? 0 : (keys.to - keys.from) / 1000;
  const { totals, left, place, rule } = row;
  return (
    <div class="columns">
      <section>
        <h3>Since the start</h3>
        {totals === undefined && (
          <p>Each value has statistics of its own. None had hits in the last 5 minutes.</p>
        )}
        <dl class="totals">
          {Object.entries(totals ?? {}).map(([name, value]) => (
            <div key={name}>
              <dt class="mono">{name}</dt>
              <dd data-stat={name}>{count(value)}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section>
        <h3>Configuration</h3>
        <dl>
          {rule !== undefined && (
            <div>
              <dt>Rule</dt>
              <dd class="mono">{rule}</dd>
            </div>
          )}
          {row.limit !== "" && (
            <div>
              <dt>Limit</dt>
              <dd>{row.limit}</dd>
            </div>
          )}
          {place && (
            <div>
              <dt>Source</dt>
              <dd>
                <Place place={place} short={false} />
              </dd>
            </div>
          )}
          {left && (
            <div>
              <dt>Counter</dt>
              <dd>
                {left.key !== undefined && <span class="mono">{left.key}: </span>}
                {count(left.used)} used, {count(left.remaining)} left
                {left.resetSeconds !== undefined && `, resets in ${duration(left.resetSeconds)}`}
              </dd>
            </div>
          )}
        </dl>
        <p>
          <button type="button" onClick={() => onExplain()}>
            Explain a request to this rule
          </button>
        </p>
      </section>
      {keys && (
        <>
          <KeyList
            title={`Most refused keys, ${duration(seconds)}`}
            keys={keys.refusedKeys}
            total={keys.refused}
            seconds={seconds}
            refused={true}
            onExplain={onExplain}
          />
          <KeyList
            title={`Keys with most hits, ${duration(seconds)}`}
            keys={keys.keys}
            total={keys.hits}
            seconds={seconds}
            refused={false}
            onExplain={onExplain}
          />
        </>
      )}
      {!frame.keys.shown && (
        <section>
          <h3>Keys</h3>
          <HiddenKeys keys={frame.keys} setToken={setToken} />
        </section>
      )}
    </div>
  );
}
