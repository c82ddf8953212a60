/** The dashboard as a person sees it: a real Chromium, a real service, real load. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Browser } from "../../../tools/chromium/browser.ts";
import { installChromium } from "../../../tools/chromium/install.ts";
import type { Page } from "../../../tools/chromium/page.ts";
import { RedisServer } from "../test/servers/redis.ts";
import { type RunningTollgate, startTollgate } from "../test/tollgate.ts";
import { hit, Load } from "./load.ts";

const HOSTILE = [
  '<img src=x onerror="globalThis.harm=1">',
  '"><script>globalThis.harm=1</script>',
  "</script><script>globalThis.harm=1</script>",
  "javascript:globalThis.harm=1",
];

const RULES = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 20 }
  - key: path
    value: /login
    rate_limit: { unit: day, requests_per_unit: 5, name: login }
  - key: plan
    value: free
    shadow_mode: true
    rate_limit: { unit: second, requests_per_unit: 1 }
  - key: tenant
    detailed_metric: true
    rate_limit: { unit: day, requests_per_unit: 2 }
`;

/** The text of the first element that a selector finds. */
const textOf = (selector: string) => document.querySelector<HTMLElement>(selector)?.innerText ?? "";
const hasText = (selector: string, text: string) =>
  document.querySelector<HTMLElement>(selector)?.innerText.includes(text);
const hasRow = (key: string) => document.querySelector(`[data-rule="${CSS.escape(key)}"]`) !== null;

let browser: Browser;
before(async () => {
  const installed = installChromium();
  if ("reason" in installed) throw new Error(installed.reason);
  browser = await Browser.start(installed);
});
after(() => browser?.close());

describe("the dashboard of a service with load", () => {
  let tollgate: RunningTollgate;
  let page: Page;
  before(async () => {
    tollgate = await startTollgate({ config: { "shop.yaml": RULES } });
    page = await browser.open(`http://${tollgate.debug}/`);
    await page.waitFor(hasText, "#status", "live");
  });
  after(async () => {
    await tollgate.stop();
  });

  test("the first screen says who is limited, by which rule, and why", async () => {
    await page.waitFor(hasText, ".verdict", "Nobody is being limited right now");
    const load = new Load(tollgate, "shop", () => [{ user: "ann" }, { path: "/login" }]);
    try {
      await page.waitFor(hasText, ".verdict", "shop.path_/login refuses");
      await page.waitFor(hasText, ".verdict", "The limit is 5 per day, in shop.yaml:5");
      await page.waitFor(hasText, ".verdict", "shop.user refuses");
      await page.waitFor(hasText, ".verdict", "Most refused: user=ann (100 %)");
      assert.equal(await page.evaluate("document.title"), "● refusing – Tollgate");
      // Above the fold of a laptop.
      const bottom = await page.run(() => document.querySelector(".verdict")!.getBoundingClientRect().bottom);
      assert.ok(bottom < 400, `${bottom}`);
    } finally {
      await load.stop();
    }
  });

  test("a search hides no refusing rule from the verdict, which leads to its row", async () => {
    const other = await browser.open(`http://${tollgate.debug}/`);
    const load = new Load(tollgate, "shop", () => [{ path: "/login" }]);
    try {
      await other.waitFor(hasText, "#status", "live");
      await other.press("/");
      await other.type("plan");
      await other.waitFor(() => document.querySelectorAll("[data-rule]").length === 1);
      await other.waitFor(hasText, ".verdict", "shop.path_/login refuses");
      await other.click(".verdict button");
      await other.waitFor(hasText, ".details", "total_hits");
      await other.waitFor(() => document.activeElement!.textContent!.includes("shop.path_/login"));
    } finally {
      await load.stop();
      await other.close();
    }
  });

  test("shows the figures of /stats", async () => {
    for (let call = 0; call < 9; call++) await hit(tollgate, "shop", { plan: "free" });
    for (const key of ["shop.user", "shop.path_/login", "shop.plan_free"]) {
      const response = await fetch(`http://${tollgate.debug}/stats`, {
        headers: { accept: "application/json" },
      });
      const stats = (await response.json()) as Record<string, number>;
      await page.click(`[data-rule="${key}"] button.rule`);
      const names = ["total_hits", "over_limit", "near_limit", "within_limit", "shadow_mode"];
      const expected = names.map((name) =>
        stats[`ratelimit.service.rate_limit.${key}.${name}`]!.toLocaleString("en"),
      );
      const shown = await page.waitFor(
        (wanted, values) => {
          const texts = wanted.map((name) => textOfStat(name));
          return texts.join() === values.join() && texts;
          function textOfStat(name: string): string {
            return document.querySelector<HTMLElement>(`.details [data-stat="${name}"]`)?.innerText ?? "";
          }
        },
        names,
        expected,
      );
      assert.deepEqual(shown, expected);
      await page.click(`[data-rule="${key}"] button.rule`);
    }
  });

  test("a hostile key is text, and runs nothing", async () => {
    for (const value of HOSTILE)
      for (let call = 0; call < 4; call++) await hit(tollgate, "shop", { tenant: value });
    for (const value of HOSTILE) {
      // Names of statistics do not contain every character.
      const shown = `shop.tenant_${value.replace(/[:|#@]/g, "_")}`;
      await page.waitFor(hasRow, shown);
      assert.equal(
        await page.run(
          (key) =>
            document.querySelector<HTMLElement>(`[data-rule="${CSS.escape(key)}"] button`)!.innerText.trim(),
          shown,
        ),
        shown,
      );
      await page.click(`[data-rule="${await page.run((key) => CSS.escape(key), shown)}"] button.rule`);
      await page.waitFor(hasText, ".details", "over_limit");
      await page.waitFor(hasText, ".details .keys", `tenant=${value}`);
    }
    await page.click("#explain-descriptor");
    await page.evaluate("document.activeElement.select()");
    await page.type(`tenant=${HOSTILE[0]}`);
    await page.click("#explain input");
    await page.evaluate("document.activeElement.select()");
    await page.type("shop");
    await page.press("Enter");
    await page.waitFor(hasText, ".answer", "Would be refused");
    await page.waitFor(hasText, ".answer", HOSTILE[0]!);
    assert.equal(await page.evaluate("typeof globalThis.harm"), "undefined");
    assert.equal(await page.run(() => document.querySelectorAll("#app img, #app script").length), 0);
  });

  test("shows the top keys of a rule, and explains one", async () => {
    await page.click('[data-rule="shop.user"] button.rule');
    await page.waitFor(hasText, ".details", "user=ann");
    await page.click(".details .keys button");
    const asked = await page.run(() =>
      [...document.querySelectorAll<HTMLInputElement>("#explain input")].map(({ value }) => value),
    );
    assert.deepEqual(asked, ["shop", "user=ann"]);
    await page.press("Enter");
    await page.waitFor(hasText, ".answer", "limited by the rule in");
    await page.click('[data-rule="shop.user"] button.rule');
  });

  test("shows sampled decisions as they happen, with a filter", async () => {
    await page.click("#decisions button");
    await page.waitFor(hasText, "#decisions", "Waiting for the next one");
    await page.click('#decisions input[type="search"]');
    await page.type("shop.user bob");
    const load = new Load(tollgate, "shop", () => [{ user: "bob" }, { path: "/login" }]);
    try {
      await page.waitFor(hasText, "#decisions li", "user=bob");
      await page.waitFor(hasText, "#decisions li", "refused");
    } finally {
      await load.stop();
    }
    assert.equal(
      await page.run(() =>
        document.querySelector<HTMLElement>("#decisions ol")!.innerText.includes("/login"),
      ),
      false,
    );
    await page.click("#decisions button");
    await page.waitFor(hasText, "#decisions button", "Watch");
  });

  test("explains a request without counting it", async () => {
    const other = await browser.open(`http://${tollgate.debug}/`);
    await other.waitFor(hasText, "#status", "live");
    await other.press("e");
    await other.type("path=/login");
    await other.click("#explain input");
    await other.type("shop");
    await other.press("Enter");
    await other.waitFor(hasText, ".answer", "Would be refused: limited by the rule in");
    await other.waitFor(hasText, ".answer", "shop.path_/login");
    await other.close();
  });

  test("by keyboard: search, walk, open, read the source, close, pause", async () => {
    const other = await browser.open(`http://${tollgate.debug}/`);
    await other.waitFor(hasText, "#status", "live");
    await other.press("/");
    await other.type("shop.u");
    await other.waitFor(() => document.querySelectorAll("[data-rule]").length === 1);
    await other.press("Escape");
    await other.press("/");
    await other.evaluate("document.activeElement.select()");
    await other.type("shop.");
    await other.waitFor(() => document.querySelectorAll("[data-rule]").length > 3);
    // From the search to the first rule.
    for (let step = 0; step < 4; step++) {
      if (await other.run(() => document.activeElement!.matches("button.rule"))) break;
      await other.press("Tab");
    }
    const first = await other.run(() => document.activeElement!.textContent);
    await other.press("ArrowDown");
    assert.notEqual(await other.run(() => document.activeElement!.textContent), first);
    await other.press("ArrowUp");
    await other.press("Enter");
    await other.waitFor(hasText, ".details", "total_hits");
    await other.press("Tab");
    await other.press("Enter");
    await other.waitFor(() => document.querySelector("dialog")!.open);
    const marked = await other.waitFor(textOf, "dialog .marked");
    assert.match(marked, /key: (?:user|path|plan|tenant)/);
    await other.press("Escape");
    await other.waitFor(() => !document.querySelector("dialog")!.open);
    await other.press("p");
    await other.waitFor(hasText, "#status", "paused");
    await other.press("p");
    await other.waitFor(hasText, "#status", "live");
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  test("every control has a name, and the page has one of each landmark", async () => {
    const faults = await page.run(() => {
      const nameless = [...document.querySelectorAll<HTMLElement>("button, input, select, a, svg")].filter(
        (element) =>
          !(element.textContent?.trim() || element.getAttribute("aria-label") || element.closest("label")),
      );
      const landmarks = ["main", "h1", "footer"].filter(
        (name) => document.querySelectorAll(name).length !== 1,
      );
      return [...nameless.map(({ outerHTML }) => outerHTML), ...landmarks];
    });
    assert.deepEqual(faults, []);
  });

  test("a narrow screen: nothing is cut off, and rows are readable", async () => {
    const phone = await browser.open(`http://${tollgate.debug}/`, {
      width: 360,
      height: 700,
      mobile: true,
      scheme: "dark",
    });
    await phone.waitFor(hasRow, "shop.user");
    const { width, scrollWidth, label } = await phone.run(() => ({
      width: innerWidth,
      scrollWidth: document.documentElement.scrollWidth,
      label: getComputedStyle(document.querySelector('[data-rule] [data-label="Refused/s"]')!, "::before")
        .content,
    }));
    assert.ok(scrollWidth <= width, `${scrollWidth} of ${width}`);
    assert.equal(width, 360);
    assert.match(label, /Refused/);
    await phone.close();
  });

  test("light and dark have enough contrast", async () => {
    for (const scheme of ["light", "dark"] as const) {
      const other = await browser.open(`http://${tollgate.debug}/`, { scheme });
      await other.waitFor(hasRow, "shop.user");
      const low = await other.run(lowContrast);
      assert.deepEqual(low, [], scheme);
      await other.close();
    }
  });

  test("the page follows a reload, and shows the fault of a failed one", async () => {
    const file = join(tollgate.config, "shop.yaml");
    writeFileSync(
      file,
      RULES.replace("requests_per_unit: 20", "requests_per_unit: 77").replace("value: /login", "value: /pay"),
    );
    await page.waitFor(hasRow, "shop.path_/pay");
    await page.waitFor(hasText, '[data-rule="shop.user"]', "77 per minute");
    await page.waitFor(hasText, "#loads li", "loaded");
    writeFileSync(file, "domain: shop\ndescriptors: [{ kye: user }]\n");
    await page.waitFor(hasText, ".alerts", "The last load of the configuration failed");
    await page.waitFor(hasText, "#loads li", "kye");
    await page.waitFor(hasText, '[data-rule="shop.user"]', "77 per minute");
    writeFileSync(file, RULES);
    await page.waitFor(hasText, '[data-rule="shop.user"]', "20 per minute");
    await page.waitFor(() => document.querySelector(".alerts")!.children.length === 0);
  });

  test("the page sends requests to this service only, and has no errors", () => {
    assert.deepEqual(
      page.requests.filter(
        (address) => !address.startsWith(`http://${tollgate.debug}/`) && address !== "data:,",
      ),
      [],
    );
    assert.deepEqual(page.problems, []);
  });
});

/** Texts whose contrast with their background is below 4.5 (WCAG 2.2, 1.4.3). */
function lowContrast(): string[] {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })!;
  function luminance(color: string): number {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  }
  function backOf(element: Element | null): string {
    if (element === null) return "white";
    const { backgroundColor } = getComputedStyle(element);
    return backgroundColor === "rgba(0, 0, 0, 0)" ? backOf(element.parentElement) : backgroundColor;
  }
  const low = new Set<string>();
  for (const element of document.querySelectorAll<HTMLElement>("body *")) {
    const text = [...element.childNodes].find(
      ({ nodeType, nodeValue }) => nodeType === 3 && nodeValue?.trim(),
    );
    // A disabled control may have less.
    if (text === undefined || element.matches("style, script, noscript, title, :disabled")) continue;
    const [one, other] = [luminance(getComputedStyle(element).color), luminance(backOf(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) low.add(`${element.tagName} ${element.className}: ${ratio.toFixed(1)}`);
  }
  return [...low];
}

test("follows a store that dies and comes back, while load runs", async () => {
  const redis = await RedisServer.start();
  const tollgate = await startTollgate({
    config: { "shop.yaml": RULES },
    env: {
      BACKEND_TYPE: "kvstore",
      KVSTORE_URL: redis.url,
      KVSTORE_FAILURE_MODE: "deny",
      KVSTORE_TIMEOUT: "300ms",
    },
  });
  const page = await browser.open(`http://${tollgate.debug}/`);
  const load = new Load(tollgate, "shop", () => [{ user: "ann" }, { path: "/login" }]);
  try {
    await page.waitFor(hasText, "#state", "closed");
    await page.waitFor(hasText, '[data-rule="shop.path_/login"]', "5 per day");
    await page.waitFor(hasText, ".verdict", "shop.path_/login refuses");
    await redis.stop();
    await page.waitFor(hasText, ".alerts", "The store (kvstore) has been unavailable");
    await page.waitFor(hasText, ".verdict", "All limited requests are refused");
    await page.waitFor(hasText, "#state", "open for");
    await redis.restart();
    await page.waitFor(() => document.querySelector(".alerts")!.children.length === 0);
    await page.waitFor(hasText, "#state", "closed");
    assert.deepEqual(page.problems, []);
  } finally {
    await load.stop();
    await page.close();
    await tollgate.stop();
    await redis.stop();
  }
});

test("says that the service is gone, and goes on when it is back", async () => {
  const first = await startTollgate({ config: { "shop.yaml": RULES } });
  const port = first.debug.split(":")[1]!;
  const page = await browser.open(`http://${first.debug}/`);
  await page.waitFor(hasText, "#status", "live");
  await first.stop();
  await page.waitFor(hasText, ".alerts", "Tollgate does not answer");
  const second = await startTollgate({ config: { "shop.yaml": RULES }, env: { DEBUG_PORT: port } });
  try {
    await page.waitFor(hasText, "#status", "live");
    await page.waitFor(() => document.querySelector(".alerts")!.children.length === 0);
  } finally {
    await page.close();
    await second.stop();
  }
});

test("10,000 rules: the most refused first, a search, and pages", async () => {
  const rules = Array.from(
    { length: 10_000 },
    (_, number) => `  - { key: k, value: "${number}", rate_limit: { unit: day, requests_per_unit: 2 } }`,
  );
  const tollgate = await startTollgate({
    config: { "many.yaml": `domain: many\ndescriptors:\n${rules.join("\n")}\n` },
  });
  const page = await browser.open(`http://${tollgate.debug}/`);
  try {
    await page.waitFor(hasText, "#rules", "10,000 configured");
    for (let call = 0; call < 6; call++) await hit(tollgate, "many", { k: "7777" });
    await page.waitFor(
      () => document.querySelector("[data-rule]")?.getAttribute("data-rule") === "many.k_7777",
    );
    await page.waitFor(hasText, ".pager", "of 10,000");
    assert.equal(await page.run(() => document.querySelectorAll("[data-rule]").length), 25);
    await page.press("/");
    await page.type("k_999");
    await page.waitFor(hasText, ".pager", "1–11 of 11");
    await page.evaluate("document.activeElement.select()");
    await page.type("k_");
    await page.waitFor(hasText, ".pager", "of 10,000");
    await page.click(".pager button:last-of-type");
    await page.waitFor(hasText, ".pager", "26–50 of 10,000");
    await page.click('[data-rule] a[href^="#source"]');
    await page.waitFor(textOf, "dialog .marked");
    assert.deepEqual(page.problems, []);
  } finally {
    await page.close();
    await tollgate.stop();
  }
});
