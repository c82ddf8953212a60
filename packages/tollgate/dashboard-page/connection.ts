/** The stream of frames. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Frame } from "../src/dashboard/messages.ts";

export interface View {
  readonly search: string;
  readonly order: "refused" | "hits" | "name";
  readonly offset: number;
  readonly limit: number;
}

export type Status = "connecting" | "live" | "lost" | "refused";

export interface Connection {
  readonly frame: Frame | undefined;
  readonly status: Status;
  /** Why there are no frames. */
  readonly problem: string;
}

/** Milliseconds until another attempt after a refusal. The browser itself tries again after a loss. */
const RETRY = 5000;
/** Milliseconds without a frame after which the page says so. */
const SILENCE = 5000;

/** Receives frames for a view. Ends the stream while the page is hidden. */
export function useFrames(view: View, paused: boolean): Connection {
  const [frame, setFrame] = useState<Frame>();
  const [status, setStatus] = useState<Status>("connecting");
  const [problem, setProblem] = useState("");
  const hidden = useHidden();
  const pausedNow = useRef(paused);
  pausedNow.current = paused;
  const query = queryOf(view);

  useEffect(() => {
    if (hidden) return;
    let source: EventSource;
    let retry: number | undefined;
    let silence: number | undefined;
    let over = false;
    function watchSilence(): void {
      clearTimeout(silence);
      silence = window.setTimeout(() => setStatus("lost"), SILENCE);
    }
    function open(): void {
      source = new EventSource(`dashboard/events?${query}`);
      source.onmessage = ({ data }) => {
        watchSilence();
        setStatus("live");
        setProblem("");
        if (!pausedNow.current) setFrame(JSON.parse(data) as Frame);
      };
      source.onerror = () => {
        setStatus("lost");
        if (source.readyState !== EventSource.CLOSED) return;
        void reasonOf(query).then((reason) => {
          if (over) return;
          setStatus(reason === "" ? "lost" : "refused");
          setProblem(reason);
        });
        retry = window.setTimeout(open, RETRY);
      };
      watchSilence();
    }
    open();
    return () => {
      over = true;
      clearTimeout(retry);
      clearTimeout(silence);
      source.close();
    };
  }, [query, hidden]);

  return { frame, status, problem };
}

/** The browser does not tell why it could not open a stream. */
async function reasonOf(query: string): Promise<string> {
  try {
    const response = await fetch(`dashboard/state?${query}`, { headers: { accept: "application/json" } });
    if (response.ok) return "";
    return ((await response.json()) as { detail?: string }).detail ?? response.statusText;
  } catch {
    return "";
  }
}

function queryOf({ search, order, offset, limit }: View): string {
  return new URLSearchParams({ search, order, offset: String(offset), limit: String(limit) }).toString();
}

function useHidden(): boolean {
  const [hidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const update = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  return hidden;
}

/** Fetches JSON. @throws {Error} with the reason of the response */
export async function fetchJson<Value>(path: string, init: RequestInit = {}): Promise<Value> {
  const response = await fetch(path, { ...init, headers: { accept: "application/json", ...init.headers } });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body as Value;
  const detail = (body as { detail?: string } | undefined)?.detail;
  throw new Error(detail ?? `${response.status} ${response.statusText}`);
}
