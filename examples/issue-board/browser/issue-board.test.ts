/** The board as people see it: two real browsers' pages, one server. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser } from "../../../tools/chromium/browser.ts";
import { installChromium } from "../../../tools/chromium/install.ts";
import type { Page } from "../../../tools/chromium/page.ts";
import { startBoard } from "./board.ts";

const HOSTILE = '<img src=x onerror="globalThis.harm=1"><script>globalThis.harm=1</script>';

const hasText = (selector: string, text: string) =>
  document.querySelector<HTMLElement>(selector)?.innerText.includes(text) === true;
/** Replaces what a field contains, as if it was typed. */
const fill = (selector: string, value: string) => {
  const found = document.querySelector<HTMLInputElement | HTMLTextAreaElement>(selector);
  if (found === null) return false;
  found.value = value;
  found.dispatchEvent(new Event("input", { bubbles: true }));
  return true;
};

const url = await startBoard();
let browser: Browser;
let ann: Page;
let ben: Page;

before(async () => {
  const installed = installChromium();
  if ("reason" in installed) throw new Error(installed.reason);
  browser = await Browser.start(installed);
  ann = await browser.open(`${url}/`);
  ben = await browser.open(`${url}/`, { scheme: "dark", width: 420, height: 800, mobile: true });
});
after(() => browser?.close());

async function signUp(page: Page, name: string): Promise<void> {
  await page.waitFor(fill, "[name=name]", name);
  await page.run(fill, "[name=password]", "correct horse battery");
  await page.click("[value=sign-up]");
  await page.waitFor(hasText, "#session", name);
  await page.waitFor(hasText, "#live", "live");
}

test("two users sign up, and each sees the other's new issue live", async () => {
  await signUp(ann, "Ann");
  await signUp(ben, "Ben");
  await ann.run(fill, "#create [name=title]", "The bell is silent");
  await ann.click("#create button");
  await ann.waitFor(hasText, "#issue h2", "The bell is silent");
  await ben.waitFor(hasText, "#issues", "The bell is silent");
  await ben.click("#issues a");
  await ben.waitFor(hasText, "#issue h2", "The bell is silent");
});

test("a hostile title, comment and name of a file are texts", async () => {
  const { hash } = new URL(String(await ann.evaluate("location.href")));
  await ann.run(fill, "#create [name=title]", HOSTILE);
  await ann.click("#create button");
  await ann.waitFor(hasText, "#issue h2", HOSTILE);
  await ann.run(fill, "#comment textarea", HOSTILE);
  await ann.click("#comment button");
  await ann.waitFor(hasText, "#issue .comment", HOSTILE);
  await ben.waitFor(hasText, "#issues", HOSTILE);
  for (const page of [ann, ben]) {
    assert.equal(await page.evaluate("globalThis.harm"), undefined);
    assert.equal(await page.evaluate("document.querySelectorAll('img, main script').length"), 0);
  }
  await ann.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await ann.waitFor(hasText, "#issue h2", "The bell is silent");
});

test("an edit under a conflict is neither lost nor forced", async () => {
  await ben.run(fill, "#edit [name=text]", "Ben's text");
  await ann.run(fill, "#edit [name=text]", "Ann's text");
  await ann.click("#edit button");
  await ben.waitFor(hasText, "#issue [role=alert]", "Ann has changed this issue");
  assert.equal(await ben.evaluate("document.querySelector('#edit [name=text]').value"), "Ben's text");
  await ben.click("#edit button");
  await ben.waitFor(hasText, "#issue [role=alert]", "text: Ann's text");
  await ben.click("#issue [role=alert] button:last-child");
  await ann.waitFor(
    () => document.querySelector<HTMLTextAreaElement>("#edit [name=text]")?.value === "Ben's text",
  );
});

test("a file is uploaded, and the other user downloads it", async () => {
  const file = join(import.meta.dirname, "..", "page", "index.html");
  const { root } = (await ann.send("DOM.getDocument")) as { root: { nodeId: number } };
  const { nodeId } = await ann.send("DOM.querySelector", { nodeId: root.nodeId, selector: "#upload" });
  await ann.send("DOM.setFileInputFiles", { nodeId, files: [file] });
  await ann.waitFor(hasText, "#issue ul", "index.html");
  await ben.waitFor(hasText, "#issue ul", "index.html");
  const downloaded = await ben.run(async () => {
    const link = document.querySelector<HTMLAnchorElement>("#issue ul a")!;
    const response = await fetch(link.href);
    return [response.headers.get("content-disposition"), await response.text()] as const;
  });
  assert.match(String(downloaded[0]), /^attachment; filename="index.html"/);
  assert.match(downloaded[1], /<h1>Issue board/);
});

test("a stranger reads and cannot write, and every field has a name", async () => {
  const stranger = await browser.open(`${url}/${new URL(String(await ben.evaluate("location.href"))).hash}`);
  await stranger.waitFor(hasText, "#issue h2", "The bell is silent");
  assert.equal(await stranger.evaluate("document.querySelector('#issue fieldset').disabled"), true);
  assert.equal(await stranger.evaluate("document.querySelector('#create').checkVisibility()"), false);
  const { nodes } = (await ann.send("Accessibility.getFullAXTree")) as {
    nodes: { role?: { value: string }; name?: { value: string } }[];
  };
  const fields = nodes.filter(({ role }) =>
    /^(textbox|searchbox|combobox|button|link)$/.test(role?.value ?? ""),
  );
  assert.ok(fields.length > 10);
  for (const { role, name } of fields)
    assert.notEqual(name?.value ?? "", "", `a ${role?.value} without a name`);
  await stranger.close();
});

test("light and dark are different, and the pages have no faults", async () => {
  const color = "getComputedStyle(document.documentElement).backgroundColor";
  assert.notEqual(await ann.evaluate(color), await ben.evaluate(color));
  for (const [name, page] of [
    ["light", ann],
    ["dark", ben],
  ] as const) {
    // The conflict is an answer of 412, which the browser logs.
    const faults = page.problems.filter((problem) => !/status of 412/.test(problem));
    assert.deepEqual(faults, []);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, name);
    const { PICTURES } = process.env;
    if (PICTURES !== undefined) writeFileSync(join(PICTURES, `board-${name}.png`), await page.screenshot());
  }
});
