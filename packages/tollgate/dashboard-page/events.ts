/** Server-sent events, read with fetch: unlike EventSource, it sends a token and tells why a stream was refused. */

/** Milliseconds until another attempt, after a loss and after a refusal. */
const RETRY_LOST = 1000;
const RETRY_REFUSED = 5000;
/** Milliseconds without an event after which a stream counts as lost. */
const SILENCE = 5000;

export interface EventHandlers {
  readonly onData: (data: unknown) => void;
  /** @param reason why the service refuses the stream; empty if it cannot be reached */
  readonly onLoss: (reason: string) => void;
}

/** Reads a stream, and opens it again after a loss. Returns a function that ends it. */
export function readEvents(
  path: string,
  headers: Readonly<Record<string, string>>,
  { onData, onLoss }: EventHandlers,
): () => void {
  const stop = new AbortController();
  async function readForever(): Promise<void> {
    while (!stop.signal.aborted) {
      const reason = await readOnce(path, headers, onData, stop.signal).catch(() => "");
      if (stop.signal.aborted) return;
      onLoss(reason);
      await new Promise((resolve) => setTimeout(resolve, reason === "" ? RETRY_LOST : RETRY_REFUSED));
    }
  }
  void readForever();
  return () => stop.abort();
}

/** Returns after the stream's end: why it was refused, or the empty text. */
async function readOnce(
  path: string,
  headers: Readonly<Record<string, string>>,
  onData: (data: unknown) => void,
  stop: AbortSignal,
): Promise<string> {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), SILENCE);
  const signal = AbortSignal.any([stop, silent.signal]);
  try {
    const response = await fetch(path, { headers: { accept: "text/event-stream", ...headers }, signal });
    if (!response.ok) return await reasonOf(response);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return "";
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE);
      const events = (rest + value).split("\n\n");
      rest = events.pop()!;
      for (const event of events) if (event.startsWith("data: ")) onData(JSON.parse(event.slice(6)));
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The reason in a response with problem details. */
export async function reasonOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  const detail = (body as { readonly detail?: string } | undefined)?.detail;
  return detail ?? `${response.status} ${response.statusText}`;
}

/** Fetches JSON. @throws {Error} with the reason of the response */
export async function fetchJson<Value>(path: string): Promise<Value> {
  const response = await fetch(path, { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(await reasonOf(response));
  return (await response.json()) as Value;
}
