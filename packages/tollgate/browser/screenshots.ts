/**
 * `npm run screenshots`: makes the pictures of the manual, in `docs/pictures/`. They show a real service with a small load.
 * Installs Chromium into its own folder. See them before you commit them.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "../../../tools/chromium/browser.ts";
import { installChromium } from "../../../tools/chromium/install.ts";
import type { PageOptions } from "../../../tools/chromium/page.ts";
import { startTollgate } from "../test/tollgate.ts";
import { type Descriptor, Load } from "./load.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "docs", "pictures");

const RULES = `domain: shop
descriptors:
  # Guessing passwords.
  - key: path
    value: /login
    descriptors:
      - key: remote_address
        rate_limit: { unit: minute, requests_per_unit: 10, name: login }
  - key: api_key
    rate_limit: { unit: second, requests_per_unit: 20 }
  - key: path
    value: /search
    rate_limit: { unit: second, requests_per_unit: 5 }
  - key: plan
    value: free
    shadow_mode: true
    rate_limit: { unit: minute, requests_per_unit: 60 }
  - key: path
    value: /checkout
    rate_limit: { unit: second, requests_per_unit: 50 }
  - key: tenant
    rate_limits:
      - { unit: second, requests_per_unit: 100 }
      - { unit: hour, requests_per_unit: 10000, name: hourly }
`;

const PICTURES: readonly (readonly [name: string, options: PageOptions])[] = [
  ["dashboard-light", { width: 1200, height: 800, scheme: "light" }],
  ["dashboard-dark", { width: 1200, height: 800, scheme: "dark" }],
  ["dashboard-phone", { width: 390, height: 800, scheme: "dark", mobile: true }],
];

/** Seconds of load: the sparklines need some. */
const SECONDS = Number(process.env.SECONDS ?? 75);

let round = 0;
function nextCalls(): Descriptor[] {
  round++;
  const calls: Descriptor[] = [{ path: "/search" }, { path: "/checkout" }, { tenant: `t${round % 7}` }];
  if (round % 3 === 0) calls.push({ path: "/login", remote_address: "203.0.113.7" });
  if (round % 9 === 0) calls.push({ path: "/login", remote_address: "198.51.100.23" });
  if (round % 2 === 0) calls.push({ plan: "free" }, { api_key: `key-${round % 5}` });
  // Waves, so that a sparkline has a shape.
  if (Math.sin(round / 40) > 0.2) calls.push({ path: "/search" }, { path: "/search" });
  return calls;
}

const installed = installChromium();
if ("reason" in installed) {
  console.error(`no pictures were made: ${installed.reason}`);
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const tollgate = await startTollgate({ config: { "shop.yaml": RULES } });
const browser = await Browser.start(installed);
const load = new Load(tollgate, "shop", nextCalls, 60);
try {
  const pages = [];
  for (const [name, options] of PICTURES)
    pages.push({ name, page: await browser.open(`http://${tollgate.debug}/`, options) });
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
  for (const { name, page } of pages) {
    await page.waitFor(() => document.querySelector("#status")?.textContent?.includes("live"));
    const file = join(folder, `${name}.png`);
    const picture = await page.screenshot();
    writeFileSync(file, picture);
    console.log(`${file}: ${Math.ceil(picture.length / 1000)} kB`);
  }
} finally {
  await load.stop();
  await browser.close();
  await tollgate.stop();
}
