import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import type { InstalledChromium } from "./install.ts";
import { Page, type PageOptions } from "./page.ts";
import { Protocol } from "./protocol.ts";

/** Milliseconds for the start: a loaded machine may need many. */
const START_TIMEOUT = 60_000;

/**
 * A headless Chromium for tests and screenshots.
 *
 *   const installed = installChromium();
 *   const browser = await Browser.start(installed);
 *   const page = await browser.open("http://127.0.0.1:8080/");
 *   await page.waitFor(() => document.title === "Ready");
 *   await browser.close();
 */
export class Browser {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #protocol: Protocol;

  private constructor(child: ChildProcess, profile: string, protocol: Protocol) {
    this.#child = child;
    this.#profile = profile;
    this.#protocol = protocol;
  }

  static async start({ binary, libraries }: InstalledChromium): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), "chromium-"));
    const child = spawn(
      binary,
      [
        "--headless",
        "--remote-debugging-port=0",
        `--user-data-dir=${profile}`,
        // Its sandbox needs user namespaces, which containers often forbid. The pages are our own.
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--hide-scrollbars",
        "--force-color-profile=srgb",
        "--lang=en-US",
        "about:blank",
      ],
      {
        stdio: ["ignore", "ignore", "pipe"],
        env: {
          ...process.env,
          HOME: profile,
          LD_LIBRARY_PATH: [...libraries, process.env.LD_LIBRARY_PATH ?? ""].filter(Boolean).join(delimiter),
        },
      },
    );
    try {
      return new Browser(child, profile, await Protocol.connect(await addressOf(child)));
    } catch (error) {
      await end(child, profile);
      throw error;
    }
  }

  /** Opens a page of its own, without the cookies of others, and waits until it is loaded. */
  async open(address: string, options: PageOptions = {}): Promise<Page> {
    const { browserContextId } = await this.#protocol.send("Target.createBrowserContext");
    const { targetId } = await this.#protocol.send("Target.createTarget", {
      url: "about:blank",
      browserContextId,
    });
    const { sessionId } = await this.#protocol.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this.#protocol, String(sessionId), String(targetId));
    await page.prepare(options);
    await page.goto(address);
    return page;
  }

  async close(): Promise<void> {
    await this.#protocol.send("Browser.close").catch(() => undefined);
    this.#protocol.close();
    await end(this.#child, this.#profile);
  }
}

/** The address of the DevTools, which Chromium writes to its log. */
function addressOf(child: ChildProcess): Promise<string> {
  const lines: string[] = [];
  const reader = createInterface(child.stderr!);
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`Chromium ${why}:\n${lines.slice(-20).join("\n")}`));
    const late = setTimeout(fail, START_TIMEOUT, "does not start");
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code) => fail(`ended with ${code}`));
    reader.on("line", (line) => {
      lines.push(line);
      const address = /DevTools listening on (\S+)/.exec(line)?.[1];
      if (address === undefined) return;
      clearTimeout(late);
      resolve(address);
    });
  });
}

async function end(child: ChildProcess, profile: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    const late = setTimeout(() => child.kill("SIGKILL"), 5000);
    child.kill("SIGTERM");
    await exited;
    clearTimeout(late);
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
