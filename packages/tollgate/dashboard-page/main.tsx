import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { KeyCount, RuleRow } from "../src/dashboard/messages.ts";
import { Alerts, Verdict } from "./alerts.tsx";
import { type Status, useFrames, type View } from "./connection.ts";
import { Decisions } from "./decisions.tsx";
import { Explain, type Question } from "./explain.tsx";
import { clock, duration } from "./format.ts";
import { descriptorText } from "./keys.tsx";
import { Loads } from "./loads.tsx";
import { Overview } from "./overview.tsx";
import { Rules } from "./rules.tsx";
import { Source } from "./source.tsx";
import { SystemState } from "./system.tsx";

const STATUS: Readonly<Record<Status, string>> = {
  connecting: "connecting",
  live: "live",
  lost: "no connection",
  refused: "not connected",
};
const TITLE = "Tollgate";

function App() {
  const [view, setView] = useState<View>({ search: "", order: "refused", offset: 0, limit: 25, rule: "" });
  const [paused, setPaused] = useState(false);
  /** A rule to scroll to, once the page shows it. */
  const [wanted, setWanted] = useState("");
  const [token, setToken] = useState("");
  const [question, setQuestion] = useState<Question>({ domain: "", descriptor: "" });
  const [asked, setAsked] = useState(0);
  const connection = useFrames(view, paused, token);
  const { frame, status } = connection;
  useKeys(() => setPaused((before) => !before));
  const refusing = frame !== undefined && frame.rates.refused > 0;
  useEffect(() => {
    document.title = refusing ? `● refusing – ${TITLE}` : TITLE;
  }, [refusing]);

  useEffect(() => {
    const row = wanted === "" ? null : document.querySelector(`[data-rule="${CSS.escape(wanted)}"]`);
    if (row === null) return;
    row.scrollIntoView({ block: "center" });
    row.querySelector("button")?.focus();
    setWanted("");
  }, [wanted, frame]);

  function change(part: Partial<View>): void {
    setView((before) => ({ ...before, ...part }));
  }
  function showRule(key: string): void {
    change({ rule: key, search: "", order: "refused", offset: 0 });
    setWanted(key);
  }
  function explain(row: RuleRow, key?: KeyCount): void {
    setQuestion({
      domain: row.domain,
      descriptor: key === undefined ? descriptorOf(row) : descriptorText(key),
    });
    setAsked((before) => before + 1);
  }
  return (
    <>
      <header class="top">
        <h1>{TITLE}</h1>
        {frame && (
          <span class="muted">
            {frame.process.version}, up for {duration(frame.process.uptimeSeconds)}
          </span>
        )}
        <nav aria-label="Sections">
          <a href="#rules">Rules</a>
          <a href="#decisions">Decisions</a>
          <a href="#state">State</a>
          <a href="#loads">Loads</a>
          <a href="#explain">Explain</a>
          <a href="stats">/stats</a>
        </nav>
        <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? "Resume" : "Pause"}
        </button>
        <span class={`status ${status}`} id="status">
          {paused ? "paused" : STATUS[status]}
          {frame && ` ${clock(frame.time)}`}
        </span>
      </header>
      <main>
        <Alerts frame={frame} connection={connection} />
        {frame && (
          <>
            <Verdict frame={frame} onRule={showRule} />
            <Overview frame={frame} />
            <Rules frame={frame} view={view} setView={change} onExplain={explain} setToken={setToken} />
            <Explain question={question} setQuestion={setQuestion} asked={asked} />
            <Decisions token={token} />
            <SystemState frame={frame} />
            <Loads loads={frame.loads} />
          </>
        )}
      </main>
      <Source stale={frame?.lastLoadFailed ?? false} />
      <footer class="muted">
        Keys: <kbd>/</kbd> search, <kbd>p</kbd> pause, <kbd>e</kbd> explain, <kbd>↑</kbd> <kbd>↓</kbd> between
        rules, <kbd>Enter</kbd> details, <kbd>Esc</kbd> close.
      </footer>
    </>
  );
}

/** A descriptor to begin with: the levels of a rule, with their values where it has some. */
function descriptorOf({ rule, domain }: RuleRow): string {
  const levels = rule?.startsWith(`${domain}.`) ? rule.slice(domain.length + 1).split(".") : [];
  return levels
    .map((level) => {
      const at = level.indexOf("_");
      return at < 0 ? `${level}=` : `${level.slice(0, at)}=${level.slice(at + 1)}`;
    })
    .join(",");
}

function useKeys(togglePause: () => void): void {
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const { target, key } = event;
      const isTyping = target instanceof HTMLElement && target.matches("input, select, textarea, dialog *");
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping) {
        if (key === "Escape" && target instanceof HTMLInputElement) target.blur();
        return;
      }
      const field = { "/": "search", e: "explain-descriptor" }[key];
      if (field !== undefined) {
        event.preventDefault();
        document.getElementById(field)?.focus();
      } else if (key === "p") togglePause();
    }
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

render(<App />, document.getElementById("app")!);
