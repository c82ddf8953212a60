/** The stream of frames. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Frame } from "../src/dashboard/messages.ts";
import { readEvents } from "./events.ts";

export interface View {
  readonly search: string;
  readonly order: "refused" | "hits" | "name";
  readonly offset: number;
  readonly limit: number;
  /** The key of the opened rule; empty for none. */
  readonly rule: string;
}

export type Status = "connecting" | "live" | "lost" | "refused";

export interface Connection {
  readonly frame: Frame | undefined;
  readonly status: Status;
  /** The reason why there are no frames. */
  readonly problem: string;
}

/** Receives frames for a view. Ends the stream while the page is hidden. */
export function useFrames(view: View, paused: boolean, token: string): Connection {
  const [frame, setFrame] = useState<Frame>();
  const [status, setStatus] = useState<Status>("connecting");
  const [problem, setProblem] = useState("");
  const hidden = useHidden();
  const pausedNow = useRef(paused);
  pausedNow.current = paused;
  const query = new URLSearchParams(Object.entries(view).map(([name, value]) => [name, String(value)]));
  const path = `dashboard/events?${query}`;

  useEffect(() => {
    if (hidden) return;
    return readEvents(path, credentials(token), {
      onData(data) {
        setStatus("live");
        setProblem("");
        if (!pausedNow.current) setFrame(data as Frame);
      },
      onLoss(reason) {
        setStatus(reason === "" ? "lost" : "refused");
        setProblem(reason);
      },
    });
  }, [path, hidden, token]);

  return { frame, status, problem };
}

/** The header with a token of the admin API, which shows keys. */
export function credentials(token: string): Readonly<Record<string, string>> {
  return token === "" ? {} : { authorization: `Bearer ${token}` };
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
