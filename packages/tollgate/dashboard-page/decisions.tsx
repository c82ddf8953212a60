import { useEffect, useState } from "preact/hooks";
import type { SampledDecision } from "../src/observe/decision-log/decision-feed.ts";
import { credentials } from "./connection.ts";
import { readEvents } from "./events.ts";
import { count } from "./format.ts";

/** Decisions that the page keeps. */
const MAX_SHOWN = 200;

interface Batch {
  readonly decisions?: readonly SampledDecision[];
  readonly dropped?: number;
}

interface Row {
  readonly id: number;
  readonly decision: SampledDecision;
}

let lastId = 0;

/** Sampled decisions as they happen. Asks for them only after a click: without viewers, decisions pay nothing. */
export function Decisions({ token }: { token: string }) {
  const [watching, setWatching] = useState(false);
  const [filter, setFilter] = useState("");
  const [refused, setRefused] = useState(true);
  const [rows, setRows] = useState<readonly Row[]>([]);
  const [dropped, setDropped] = useState(0);
  const [problem, setProblem] = useState("");

  useEffect(() => {
    if (!watching) return;
    const query = new URLSearchParams({ filter, refused: String(refused) });
    return readEvents(`dashboard/decisions?${query}`, credentials(token), {
      onData(data) {
        const batch = data as Batch;
        setProblem("");
        setDropped((before) => before + (batch.dropped ?? 0));
        const received = (batch.decisions ?? []).map((decision) => ({ id: ++lastId, decision })).reverse();
        if (received.length > 0) setRows((before) => [...received, ...before].slice(0, MAX_SHOWN));
      },
      onLoss: (reason) => setProblem(reason === "" ? "The stream was lost. Trying again." : reason),
    });
  }, [watching, filter, refused, token]);

  return (
    <section id="decisions" class="panel" aria-labelledby="decisions-title">
      <header>
        <h2 id="decisions-title">Sampled decisions</h2>
        <button type="button" aria-pressed={watching} onClick={() => setWatching(!watching)}>
          {watching ? "Stop" : "Watch"}
        </button>
        <label>
          <input
            type="checkbox"
            checked={refused}
            onChange={({ currentTarget }) => setRefused(currentTarget.checked)}
          />{" "}
          refused only
        </label>
        <input
          type="search"
          placeholder="Filter: words of keys, values, rules"
          aria-label="Filter decisions"
          maxLength={200}
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      </header>
      {problem !== "" && <p class="over">{problem}</p>}
      {dropped > 0 && <p class="near">{count(dropped)} decisions did not fit and are not shown.</p>}
      {rows.length === 0 && (
        <p class="empty">
          {watching ? "Waiting for the next one." : "Watch shows decisions as they happen."}
        </p>
      )}
      {rows.length > 0 && <List rows={rows} />}
    </section>
  );
}

function List({ rows }: { rows: readonly Row[] }) {
  return (
    <ol class="decisions">
      {rows.map(({ id, decision }) => (
        <li key={id}>
          <time class="muted mono" dateTime={decision.time}>
            {decision.time.slice(11, 23)}
          </time>
          <b class={decision.code === "OK" ? "good" : "over"}>
            {decision.code === "OK" ? "allowed" : "refused"}
          </b>
          <div>
            {decision.descriptors.map((descriptor, index) => (
              <Descriptor key={index} descriptor={descriptor} domain={decision.domain} />
            ))}
          </div>
          <span class="muted number">{count(decision.duration_us)} µs</span>
        </li>
      ))}
    </ol>
  );
}

type SampledDescriptor = SampledDecision["descriptors"][number];

function Descriptor({ descriptor, domain }: { descriptor: SampledDescriptor; domain: string }) {
  const { entries, rule, file, limit, count: counted, remaining, code } = descriptor;
  return (
    <p>
      <b class={`mono ${code === "OK" ? "" : "over"}`}>
        {domain} {entries.map((pair) => pair.join("=")).join(", ")}
      </b>{" "}
      <span class="muted">
        {rule === undefined ? "no rule" : `${rule} ${file ?? "from the request"}`}
        {limit && `, ${limitText(limit)}`}
        {counted !== undefined && `, count ${count(counted)}`}
        {remaining !== undefined && `, ${count(remaining)} left`}
      </span>
    </p>
  );
}

function limitText({ requests_per_unit, unit, unit_multiplier }: NonNullable<SampledDescriptor["limit"]>) {
  return `${requests_per_unit} per ${unit_multiplier === undefined ? "" : `${unit_multiplier} `}${unit.toLowerCase()}`;
}
