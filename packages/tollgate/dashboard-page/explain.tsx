import { useEffect, useState } from "preact/hooks";
import { fetchJson } from "./events.ts";
import { count, duration } from "./format.ts";

/** The input of the form. */
export interface Question {
  readonly domain: string;
  /** `key=value,key2=value2` */
  readonly descriptor: string;
}

/** The part of the answer of `/explain` that the page shows. */
interface Explanation {
  readonly overallCode: string;
  readonly descriptors: readonly {
    readonly summary: string;
    readonly notes: readonly string[];
    readonly metricKey?: string;
    readonly cacheKey?: string;
    readonly count?: number;
    readonly window?: { readonly secondsUntilReset: number };
    readonly limits?: readonly {
      readonly name?: string;
      readonly limit: number;
      readonly seconds: number;
      readonly used?: number;
      readonly remaining?: number;
    }[];
    readonly levels: readonly { readonly entry: { readonly key: string; readonly value: string } }[];
    readonly answer: { readonly code: string; readonly limitRemaining: number };
  }[];
}

interface ExplainProps {
  readonly question: Question;
  readonly setQuestion: (question: Question) => void;
  /** Grows each time another part of the page asks. */
  readonly asked: number;
}

/** Explains a request without counting it. */
export function Explain({ question, setQuestion, asked }: ExplainProps) {
  const [answer, setAnswer] = useState<Explanation>();
  const [problem, setProblem] = useState("");
  const { domain, descriptor } = question;

  async function ask(): Promise<void> {
    try {
      const query = new URLSearchParams({ domain, descriptor });
      setAnswer(await fetchJson<Explanation>(`explain?${query}`));
      setProblem("");
    } catch (error) {
      setAnswer(undefined);
      setProblem((error as Error).message);
    }
  }
  useEffect(() => {
    if (asked === 0) return;
    document.getElementById("explain-descriptor")?.focus();
    document.getElementById("explain")?.scrollIntoView({ block: "center" });
  }, [asked]);
  return (
    <section id="explain" class="panel" aria-labelledby="explain-title">
      <header>
        <h2 id="explain-title">Explain a request</h2>
        <p class="muted">Counts nothing.</p>
      </header>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <label>
          Domain{" "}
          <input
            required
            value={domain}
            onInput={({ currentTarget }) => setQuestion({ ...question, domain: currentTarget.value })}
          />
        </label>
        <label class="wide">
          Descriptor{" "}
          <input
            id="explain-descriptor"
            required
            class="mono"
            placeholder="key=value,key2=value2"
            value={descriptor}
            onInput={({ currentTarget }) => setQuestion({ ...question, descriptor: currentTarget.value })}
          />
        </label>
        <button type="submit">Explain</button>
      </form>
      <div class="answer" role="status">
        {problem !== "" && <p class="over">{problem}</p>}
        {answer?.descriptors.map((one) => (
          <Answer key={one.summary} one={one} />
        ))}
      </div>
    </section>
  );
}

function Answer({ one }: { one: Explanation["descriptors"][number] }) {
  const { answer, summary, notes, count: counted, window, cacheKey, metricKey, limits } = one;
  const isOver = answer.code === "OVER_LIMIT";
  return (
    <>
      <p>
        <b class={isOver ? "over" : "good"}>{isOver ? "Would be refused" : "Would be allowed"}</b>: {summary}
      </p>
      <dl>
        {counted !== undefined && (
          <div>
            <dt>Counter</dt>
            <dd>
              {count(counted)} now
              {window && `, resets in ${duration(window.secondsUntilReset)}`}
            </dd>
          </div>
        )}
        {limits?.map(({ name, limit, seconds, used, remaining }) => (
          <div key={`${name} ${seconds}`}>
            <dt>{name ?? "Limit"}</dt>
            <dd>
              {count(limit)} in {duration(seconds)}
              {used !== undefined && `: ${count(used)} used, ${count(remaining ?? 0)} left`}
            </dd>
          </div>
        ))}
        {metricKey !== undefined && (
          <div>
            <dt>Statistics</dt>
            <dd class="mono">{metricKey}</dd>
          </div>
        )}
        {cacheKey !== undefined && (
          <div>
            <dt>Key in the store</dt>
            <dd class="mono">{cacheKey}</dd>
          </div>
        )}
      </dl>
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </>
  );
}
