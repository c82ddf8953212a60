import { scaled } from "../time-scale.ts";
import type { Parameters, Protocol } from "./protocol.ts";

export interface PageOptions {
  /** CSS pixels. Default 1280. */
  readonly width?: number;
  /** CSS pixels. Default 800. */
  readonly height?: number;
  /** Default `light`. */
  readonly scheme?: "light" | "dark";
  /** Whether it is a phone: touch, and a viewport of its own. Default false. */
  readonly mobile?: boolean;
}

/** Milliseconds between two looks at a condition. */
const LOOK_INTERVAL = 50;
const WAIT_TIMEOUT = 20_000;

/** Keys with another code than their name, or without a text. */
const KEYS: Readonly<Record<string, Parameters>> = {
  Enter: { windowsVirtualKeyCode: 13, text: "\r" },
  Tab: { windowsVirtualKeyCode: 9 },
  Escape: { windowsVirtualKeyCode: 27 },
  ArrowDown: { windowsVirtualKeyCode: 40 },
  ArrowUp: { windowsVirtualKeyCode: 38 },
};

/** One page of a browser. */
export class Page {
  readonly #protocol: Protocol;
  readonly #session: string;
  readonly #target: string;
  readonly #problems: string[] = [];
  readonly #requests: string[] = [];

  constructor(protocol: Protocol, session: string, target: string) {
    this.#protocol = protocol;
    this.#session = session;
    this.#target = target;
  }

  /** Uncaught errors, errors on the console, and violations of the Content-Security-Policy. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** The addresses that the page requested. */
  get requests(): readonly string[] {
    return this.#requests;
  }

  async prepare({
    width = 1280,
    height = 800,
    scheme = "light",
    mobile = false,
  }: PageOptions): Promise<void> {
    this.#on("Runtime.exceptionThrown", ({ exceptionDetails }) =>
      this.#problems.push(JSON.stringify(exceptionDetails)),
    );
    this.#on("Log.entryAdded", ({ entry }) => {
      const { level, text, url } = entry as Record<string, string>;
      if (level === "error") this.#problems.push(`${text} ${url ?? ""}`);
    });
    this.#on("Runtime.consoleAPICalled", ({ type, args }) => {
      if (type === "error") this.#problems.push(JSON.stringify(args));
    });
    this.#on("Network.requestWillBeSent", ({ request }) =>
      this.#requests.push((request as { url: string }).url),
    );
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.send(`${domain}.enable`);
    const deviceScaleFactor = 1;
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor, mobile });
    if (mobile) await this.send("Emulation.setTouchEmulationEnabled", { enabled: true });
    await this.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: scheme }],
    });
  }

  async goto(url: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => {
      const off = this.#on("Page.loadEventFired", () => {
        off();
        resolve();
      });
    });
    const { errorText } = await this.send("Page.navigate", { url });
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  /**
   * Runs a function in the page and returns its result, which must be plain data.
   * @param words arguments, plain data
   */
  async run<Result, Words extends readonly unknown[]>(
    work: (...words: Words) => Result | Promise<Result>,
    ...words: Words
  ): Promise<Result> {
    return (await this.evaluate(`(${work})(...${JSON.stringify(words)})`)) as Result;
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) {
      const { exception, text } = exceptionDetails as { exception?: { description?: string }; text: string };
      throw new Error(exception?.description ?? text);
    }
    return (result as { value?: unknown }).value;
  }

  /** Waits until a function in the page returns something true, and returns it. */
  async waitFor<Result, Words extends readonly unknown[]>(
    condition: (...words: Words) => Result | Promise<Result>,
    ...words: Words
  ): Promise<Result> {
    const wanted = `${condition}\n${JSON.stringify(words)}`;
    return (await this.#until(() => this.run(condition, ...words), wanted)) as Result;
  }

  async #until(look: () => Promise<unknown>, wanted: string): Promise<unknown> {
    const end = performance.now() + scaled(WAIT_TIMEOUT);
    for (;;) {
      const result = await look();
      if (result) return result;
      if (performance.now() > end) {
        const text = String(await this.evaluate("document.body.innerText"));
        throw new Error(`not true in time: ${wanted}\n${text.slice(0, 4000)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL));
    }
  }

  /** Presses a key: a character, or a name such as `Enter`. */
  async press(key: string): Promise<void> {
    const text = key.length === 1 ? { text: key } : {};
    const code = key.length === 1 ? { windowsVirtualKeyCode: key.toUpperCase().charCodeAt(0) } : {};
    const event = { key, ...text, ...code, ...KEYS[key] };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key });
  }

  /** Types a text where the focus is. */
  async type(text: string): Promise<void> {
    await this.send("Input.insertText", { text });
  }

  /** Clicks in the middle of the first element that a selector finds, as a mouse does. */
  async click(selector: string): Promise<void> {
    const find = `(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element?.scrollIntoView({ block: "center" });
      return element?.getBoundingClientRect().toJSON();
    })()`;
    const box = await this.#until(() => this.evaluate(find), selector);
    const { x, y, width, height } = box as { x: number; y: number; width: number; height: number };
    const event = { x: x + width / 2, y: y + height / 2, button: "left", clickCount: 1 };
    await this.send("Input.dispatchMouseEvent", { type: "mousePressed", ...event });
    await this.send("Input.dispatchMouseEvent", { type: "mouseReleased", ...event });
  }

  /** A picture of the visible part, as PNG. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", optimizeForSpeed: false });
    return Buffer.from(String(data), "base64");
  }

  async close(): Promise<void> {
    await this.#protocol.send("Target.closeTarget", { targetId: this.#target });
  }

  /** A command of the DevTools protocol for this page. */
  send(method: string, params: Parameters = {}): Promise<Parameters> {
    return this.#protocol.send(method, params, this.#session);
  }

  #on(method: string, listener: (params: Parameters) => void): () => void {
    return this.#protocol.on(this.#session, method, listener);
  }
}
