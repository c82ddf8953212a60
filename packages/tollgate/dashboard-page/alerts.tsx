import type { Frame, RuleKeys, RuleRow } from "../src/dashboard/messages.ts";
import type { Connection } from "./connection.ts";
import { duration, milliseconds, percent, rate } from "./format.ts";
import { keysOf, keyText } from "./keys.tsx";
import { Place } from "./place.tsx";

/** The effect of a failing store on calls, by `KVSTORE_FAILURE_MODE` or `OBJCACHE_FAILURE_MODE`. */
const FAILURE_MODES: Readonly<Record<string, string>> = {
  error: "Calls fail; a gateway usually lets their requests pass.",
  allow: "All requests are allowed.",
  deny: "All limited requests are refused, whatever their counters hold.",
  local: "Each process counts on its own.",
};

/** Milliseconds of event loop lag that deserve attention. */
const HIGH_LAG = 100;

interface Alert {
  readonly level: "bad" | "warn";
  readonly text: string;
  readonly link?: readonly [href: string, text: string];
}

/** Faults of the service itself, the worst first. */
export function Alerts({ frame, connection }: { frame: Frame | undefined; connection: Connection }) {
  const alerts = [...connectionAlerts(connection), ...(frame === undefined ? [] : frameAlerts(frame))];
  return (
    <ul class="alerts" aria-label="Faults">
      {alerts.map(({ level, text, link }) => (
        <li key={text} class={level}>
          {text} {link && <a href={link[0]}>{link[1]}</a>}
        </li>
      ))}
    </ul>
  );
}

function connectionAlerts({ status, problem, frame }: Connection): Alert[] {
  if (status === "refused") return [{ level: "bad", text: problem }];
  if (status !== "lost") return [];
  const last = frame === undefined ? "" : " The page shows the last state that it received.";
  return [{ level: "bad", text: `Tollgate does not answer.${last} Trying again.` }];
}

function frameAlerts({ store, faults, calls, process, ...frame }: Frame): Alert[] {
  const alerts: Alert[] = [];
  if (store.degraded)
    alerts.push({
      level: "bad",
      text: `The store (${store.kind}) has been unavailable for ${duration(store.degradedSeconds ?? 0)}. ${FAILURE_MODES[store.failureMode ?? ""] ?? ""}`,
      link: ["#state", "State"],
    });
  if (frame.domains === 0)
    alerts.push({ level: "bad", text: "No domain is configured: nothing is limited." });
  if (frame.lastLoadFailed)
    alerts.push({
      level: "bad",
      text: "The last load of the configuration failed. The rules before it stay in use.",
      link: ["#loads", "What is wrong"],
    });
  for (const fault of faults) alerts.push({ level: "bad", text: `Unhealthy: ${fault}` });
  const errors = calls.errors.filter(([, perSecond]) => perSecond > 0);
  for (const [kind, perSecond] of errors)
    alerts.push({ level: "bad", text: `${rate(perSecond)} calls/s fail: ${kind.replaceAll("_", " ")}.` });
  if (frame.shadowMode)
    alerts.push({
      level: "warn",
      text: "SHADOW_MODE is on: calls over a limit are counted, and all are allowed.",
    });
  if (frame.unknownDomainPerSecond > 0)
    alerts.push({
      level: "warn",
      text: `${rate(frame.unknownDomainPerSecond)} descriptors/s name a domain that is not configured: they are not limited.`,
    });
  if (process.lagP99Ms > HIGH_LAG)
    alerts.push({
      level: "warn",
      text: `The main thread is busy: its event loop lags ${milliseconds(process.lagP99Ms)}.`,
      link: ["#state", "State"],
    });
  return alerts;
}

/** Rules that the verdict names. */
const NAMED = 3;

/** The callers that are limited right now, with the rule and the reason. */
export function Verdict({ frame, onRule }: { frame: Frame; onRule: (key: string) => void }) {
  const { rates } = frame;
  const refusing = frame.refusing.filter((row) => !row.isOneOfSeveral);
  if (frame.store.degraded && frame.store.failureMode !== "local") return <StoreVerdict frame={frame} />;
  if (rates.refused === 0) return <NoRefusals frame={frame} />;
  return (
    <section class="verdict bad" aria-labelledby="verdict">
      <h2 id="verdict">
        <b>{rate(rates.refused)}/s</b> refused: {percent(rates.refused, rates.hits)} of {rate(rates.hits)}{" "}
        hits/s
      </h2>
      <ol>
        {refusing.slice(0, NAMED).map((row) => (
          <li key={row.key}>
            <Reason
              row={row}
              refusing={limitsOf(row, frame.refusing)}
              keys={keysOf(frame.keys, row)}
              onRule={onRule}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** While the store is unavailable, its failure mode decides. The statistics of rules do not change. */
function StoreVerdict({ frame }: { frame: Frame }) {
  const { failureMode, gauges } = frame.store;
  const hasCache = gauges.some(([name]) => name.startsWith("localcache."));
  const isDenying = failureMode === "deny";
  const title = {
    deny: "All limited requests are refused",
    allow: "Nobody is being limited right now",
  }[failureMode ?? ""];
  return (
    <section class={`verdict ${isDenying ? "bad" : "warn"}`} aria-labelledby="verdict">
      <h2 id="verdict">{title ?? "Calls fail"}</h2>
      <p>
        The store does not answer, and the failure mode is <b>{failureMode}</b>.
        {hasCache && " The over-limit cache still refuses what it knows to be over."}
      </p>
    </section>
  );
}

function NoRefusals({ frame }: { frame: Frame }) {
  const { rates } = frame;
  const shadowed =
    rates.shadowed > 0 ? ` Shadow mode lets ${rate(rates.shadowed)} hits/s pass that are over a limit.` : "";
  return (
    <section class="verdict good" aria-labelledby="verdict">
      <h2 id="verdict">Nobody is being limited right now</h2>
      <p>
        {rates.hits === 0 ? "No hits in the last seconds." : `${rate(rates.hits)} hits/s, all allowed.`}
        {rates.near > 0 && ` ${rate(rates.near)} hits/s are near a limit.`}
        {shadowed}
      </p>
    </section>
  );
}

/** The limits of a rule with several that refuse now. */
function limitsOf({ rule }: RuleRow, rows: readonly RuleRow[]): string {
  const own = rows.filter((row) => row.isOneOfSeveral && row.rule === rule);
  return own.map(({ limit }) => limit).join(", ");
}

interface ReasonProps {
  readonly row: RuleRow;
  /** The refusing limits of a rule that has several; else empty. */
  readonly refusing: string;
  readonly keys: RuleKeys | undefined;
  readonly onRule: (key: string) => void;
}

function Reason({ row, refusing, keys, onRule }: ReasonProps) {
  const { rates, limit, place, origin, totals, left } = row;
  // With one counter, the rule names the key.
  const hasOneKey = left !== undefined && left.key === undefined;
  const cached = (totals?.over_limit_with_local_cache ?? 0) > 0;
  return (
    <>
      <p>
        <button type="button" class="link mono" onClick={() => onRule(row.key)}>
          {row.key}
        </button>{" "}
        refuses <b class="over">{rate(rates.refused)}/s</b> of {rate(rates.hits)} hits/s
      </p>
      {keys && keys.refusedKeys.length > 0 && !hasOneKey && <Who keys={keys} />}
      <p class="why">
        {origin === "configured" && limit !== "" && <>The limit is {refusing === "" ? limit : refusing}</>}
        {origin === "request" && <>The limit came with the request</>}
        {origin === "removed" && <>The configuration no longer has this rule</>}
        {place && (
          <>
            , in <Place place={place} />
          </>
        )}
        {left?.remaining === 0 && left.resetSeconds !== undefined && (
          <>
            . {left.key === undefined ? "Used up" : "The busiest key is used up"}; resets in{" "}
            {duration(left.resetSeconds)}
          </>
        )}
        .{cached && " The over-limit cache answers some of them."}
      </p>
    </>
  );
}

/** Keys that a sentence names. */
const NAMED_KEYS = 3;

function Who({ keys: { refusedKeys, refused } }: { keys: RuleKeys }) {
  return (
    <p class="who">
      Most refused:{" "}
      {refusedKeys.slice(0, NAMED_KEYS).map((key, index) => (
        <span key={keyText(key)}>
          {index > 0 && ", "}
          <b class="mono">{keyText(key)}</b> ({percent(key.hits, refused)})
        </span>
      ))}
    </p>
  );
}
