import { useEffect, useState } from "preact/hooks";
import type { LoadDiagnostic, LoadEntry } from "../src/dashboard/messages.ts";
import { fetchJson } from "./events.ts";
import { clock, count } from "./format.ts";
import { Place } from "./place.tsx";

/** The last loads of the configuration. */
export function Loads({ loads }: { loads: number }) {
  const [entries, setEntries] = useState<readonly LoadEntry[]>([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let over = false;
    fetchJson<readonly LoadEntry[]>("dashboard/loads").then(
      (received) => {
        if (over) return;
        setEntries(received);
        setProblem("");
      },
      (error: Error) => over || setProblem(error.message),
    );
    return () => {
      over = true;
    };
  }, [loads]);
  return (
    <section id="loads" class="panel" aria-labelledby="loads-title">
      <header>
        <h2 id="loads-title">Loads of the configuration</h2>
      </header>
      {problem !== "" && <p class="over">{problem}</p>}
      <ol class="loads">
        {entries.map((entry, index) => (
          <li key={`${entry.time} ${index}`}>
            <details open={index === 0 && entry.diagnostics.length > 0}>
              <summary>
                <time dateTime={new Date(entry.time).toISOString()}>{clock(entry.time)}</time>{" "}
                <b class={entry.succeeded ? "good" : "over"}>{entry.succeeded ? "loaded" : "refused"}</b>{" "}
                {summaryOf(entry)}
              </summary>
              {entry.diagnostics.length === 0 && <p class="muted">No errors and no warnings.</p>}
              <ul>
                {entry.diagnostics.map((diagnostic) => (
                  <Diagnosis key={diagnostic.place.text + diagnostic.message} diagnostic={diagnostic} />
                ))}
              </ul>
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}

function summaryOf({ succeeded, domains, rules, errors, warnings, repeated }: LoadEntry): string {
  const parts = succeeded ? [plural(rules, "rule"), plural(domains, "domain")] : [];
  if (errors > 0) parts.push(plural(errors, "error"));
  if (warnings > 0) parts.push(plural(warnings, "warning"));
  if (repeated > 0) parts.push(`${count(repeated)} times more`);
  return parts.join(", ");
}

function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function Diagnosis({ diagnostic }: { diagnostic: LoadDiagnostic }) {
  const { severity, message, place, sourceLine } = diagnostic;
  return (
    <li>
      <span class={severity === "error" ? "over" : "near"}>{severity}</span> <Place place={place} />:{" "}
      {message}
      {sourceLine !== undefined && <pre>{sourceLine}</pre>}
    </li>
  );
}
