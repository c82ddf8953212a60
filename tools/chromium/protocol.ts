/** The DevTools protocol: commands and events as JSON over one WebSocket. */

export type Parameters = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Parameters;
  readonly result?: Parameters;
  readonly error?: { readonly message: string };
}

interface Waiting {
  readonly method: string;
  readonly resolve: (result: Parameters) => void;
  readonly reject: (error: Error) => void;
}

export type Listener = (params: Parameters) => void;

export class Protocol {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(String(data)) as Message));
    socket.addEventListener("close", () => {
      for (const { method, reject } of this.#waiting.values())
        reject(new Error(`the browser ended during ${method}`));
      this.#waiting.clear();
    });
  }

  static connect(address: string): Promise<Protocol> {
    const socket = new WebSocket(address);
    return new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve(new Protocol(socket)));
      socket.addEventListener("error", () => reject(new Error(`cannot connect to ${address}`)));
    });
  }

  /** @param session of a page; absent for the browser itself */
  send(method: string, params: Parameters = {}, session?: string): Promise<Parameters> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params, ...(session && { sessionId: session }) }));
    });
  }

  /** @returns a function that ends it */
  on(session: string, method: string, listener: Listener): () => void {
    const key = `${session} ${method}`;
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  close(): void {
    this.#socket.close();
  }

  #receive({ id, method, sessionId, params, result, error }: Message): void {
    if (id === undefined) {
      for (const listener of this.#listeners.get(`${sessionId ?? ""} ${method}`) ?? [])
        listener(params ?? {});
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result ?? {});
    else waiting?.reject(new Error(`${waiting.method}: ${error.message}`));
  }
}
