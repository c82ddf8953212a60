import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isTimeUp } from "../../../tools/time-scale.ts";
import { generate } from "../dashboard-page/build.ts";
import type { Frame, LoadEntry, SourceText } from "../src/dashboard/messages.ts";
import type { SampledDecision } from "../src/observe/decision-log/decision-feed.ts";
import { ALICE, adminAddress, adminCall, adminEnv } from "./admin-support.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const EVENTS = { accept: "text/event-stream" };
const rules = (limit: number) => `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: ${limit} }
  - key: path
    value: /login
    rate_limit: { unit: day, requests_per_unit: 5 }
`;

async function hit(tollgate: RunningTollgate, key: string, value: string): Promise<number> {
  const body = JSON.stringify({ domain: "shop", descriptors: [{ entries: [{ key, value }] }] });
  return (await fetch(`http://${tollgate.http}/json`, { method: "POST", body })).status;
}

async function state(tollgate: RunningTollgate, query = ""): Promise<Frame> {
  const response = await fetch(`http://${tollgate.debug}/dashboard/state${query}`);
  assert.equal(response.status, 200);
  return (await response.json()) as Frame;
}

/** Waits for a state that a test wants to see. @param meanwhile runs before each look */
async function stateWith(
  tollgate: RunningTollgate,
  wanted: (frame: Frame) => boolean,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<Frame> {
  const begun = performance.now();
  for (;;) {
    await meanwhile();
    const frame = await state(tollgate);
    if (wanted(frame)) return frame;
    if (isTimeUp(begun, 20_000)) throw new Error(`not seen in time: ${wanted}\n${JSON.stringify(frame)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Opens a stream of frames. */
async function stream(tollgate: RunningTollgate, signal: AbortSignal) {
  const response = await fetch(`http://${tollgate.debug}/dashboard/events`, { headers: EVENTS, signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  return { response, reader };
}

describe("the dashboard", () => {
  let tollgate: RunningTollgate;
  before(async () => {
    tollgate = await startTollgate({ config: { "shop.yaml": rules(3) } });
  });
  after(async () => void (await tollgate.stop()));

  test("/ is a page for browsers and text for others", async () => {
    const address = `http://${tollgate.debug}/`;
    const page = await fetch(address, { headers: HTML });
    assert.match(page.headers.get("content-type")!, /^text\/html/);
    assert.equal(page.headers.get("vary"), "accept");
    for (const accept of ["*/*", "text/plain", "text/html;q=0"]) {
      const text = await fetch(address, { headers: { accept } });
      assert.match(text.headers.get("content-type")!, /^text\/plain/, accept);
      assert.match(await text.text(), /^\/stats: /m);
    }
  });

  test("the page contains all it needs, and its policy allows nothing else", async () => {
    const page = await fetch(`http://${tollgate.debug}/`, { headers: HTML });
    const policy = page.headers.get("content-security-policy")!;
    const html = await page.text();
    const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    const directives = new Map(
      policy.split("; ").map((directive) => {
        const [name, ...values] = directive.split(" ");
        return [name!, values.join(" ")];
      }),
    );
    assert.equal(directives.get("default-src"), "'none'");
    assert.equal(directives.get("connect-src"), "'self'");
    assert.equal(directives.get("frame-ancestors"), "'none'");
    assert.equal(
      directives.get("script-src"),
      hashOf(/<script type="module">([\s\S]*)<\/script>/.exec(html)![1]!),
    );
    assert.equal(directives.get("style-src"), hashOf(/<style>([\s\S]*)<\/style>/.exec(html)![1]!));
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.equal(html.match(/<script|<style/g)?.length, 2);
    assert.doesNotMatch(html, /\b(?:src|href)="(?!data:,")/);
    assert.ok(html.length < 80_000, `${html.length}`);
  });

  test("shows the figures of /stats", async () => {
    for (let call = 0; call < 8; call++) await hit(tollgate, "user", "ann");
    for (let call = 0; call < 4; call++) await hit(tollgate, "path", "/login");
    const frame = await stateWith(tollgate, ({ rules: { rows } }) =>
      rows.some(({ key, left }) => key === "shop.path_/login" && left !== undefined),
    );
    const stats = (await (
      await fetch(`http://${tollgate.debug}/stats`, { headers: { accept: "application/json" } })
    ).json()) as Record<string, number>;
    assert.equal(frame.rules.rows.length, 2);
    for (const { key, totals } of frame.rules.rows)
      for (const [stat, value] of Object.entries(totals!))
        assert.equal(value, stats[`ratelimit.service.rate_limit.${key}.${stat}`], `${key}.${stat}`);
    const [user, path] = frame.rules.rows;
    assert.deepEqual([user!.key, user!.limit, user!.place!.line], ["shop.user", "3 per day", 3]);
    assert.equal(user!.totals!.over_limit, 5);
    assert.ok(user!.rates.refused > 0 && frame.rates.refused === user!.rates.refused);
    // Many values share the rule, so no single counter is left.
    assert.equal(user!.left, undefined);
    assert.equal(path!.left!.used, 4);
    assert.equal(path!.left!.remaining, 1);
    assert.ok(path!.left!.resetSeconds! <= 86_400);
    for (const [name, value] of frame.store.gauges.filter(([gauge]) => gauge.startsWith("embedded.")))
      assert.equal(value, stats[`ratelimit.${name}`], name);
  });

  test("shows the keys of the rules that refuse, on this machine only", async () => {
    const frame = await stateWith(tollgate, ({ keys }) =>
      keys.rules.some(({ rule }) => rule === "shop.user"),
    );
    const [keys] = frame.keys.rules;
    assert.deepEqual([keys!.hits, keys!.refused], [8, 5]);
    assert.deepEqual(keys!.keys, [{ entries: [["user", "ann"]], hits: 8, error: 0 }]);
    assert.deepEqual(keys!.refusedKeys, [{ entries: [["user", "ann"]], hits: 5, error: 0 }]);
    const proxied = { "x-forwarded-for": "203.0.113.7" };
    for (let look = 0; look < 2; look++) {
      const response = await fetch(`http://${tollgate.debug}/dashboard/state`, { headers: proxied });
      const { keys: hidden } = (await response.json()) as Frame;
      assert.deepEqual([hidden.shown, hidden.rules], [false, []]);
    }
  });

  test("sends sampled decisions, on this machine only", async () => {
    const leaving = new AbortController();
    const address = `http://${tollgate.debug}/dashboard/decisions?filter=user%3Dbob&refused=true`;
    const response = await fetch(address, { headers: EVENTS, signal: leaving.signal });
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    await reader.read();
    for (let call = 0; call < 4; call++) await hit(tollgate, "user", "bob");
    let text = "";
    while (!text.includes("shop.user")) text += (await reader.read()).value;
    const decisions = [...text.matchAll(/^data: (.*)$/gm)].flatMap(
      ([, json]) => (JSON.parse(json!) as { decisions?: SampledDecision[] }).decisions ?? [],
    );
    assert.deepEqual(
      decisions.map(({ code, descriptors: [one] }) => [code, one!.entries, one!.count, one!.remaining]),
      [["OVER_LIMIT", [["user", "bob"]], 4, 0]],
    );
    leaving.abort();
    const proxied = await fetch(address, { headers: { ...EVENTS, "x-forwarded-for": "203.0.113.7" } });
    assert.equal(proxied.status, 403);
    await proxied.body?.cancel();
  });

  test("a stream sends a frame each second, and ends with its reader", async () => {
    const leaving = new AbortController();
    const { response, reader } = await stream(tollgate, leaving.signal);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(response.headers.get("cache-control"), "no-store");
    const times = new Set<number>();
    while (times.size < 3) {
      const { value, done } = await reader.read();
      assert.ok(!done);
      for (const [, json] of value.matchAll(/^data: (.*)$/gm)) times.add((JSON.parse(json!) as Frame).time);
    }
    leaving.abort();
  });

  test("the number of viewers is bounded, and places become free", async () => {
    const leaving = new AbortController();
    const streams = [];
    const begun = performance.now();
    // The places of the tests before are free once the service has noticed that their viewers left.
    while (streams.length < 16) {
      const opened = await stream(tollgate, leaving.signal);
      await opened.reader.read();
      if (opened.response.status === 200) streams.push(opened);
      assert.ok(!isTimeUp(begun, 20_000), `${streams.length} viewers`);
    }
    const refused = await fetch(`http://${tollgate.debug}/dashboard/state`);
    assert.equal(refused.status, 503);
    assert.match(((await refused.json()) as { detail: string }).detail, /16 dashboards are open/);
    leaving.abort();
    for (;;) {
      const { status } = await fetch(`http://${tollgate.debug}/dashboard/state`);
      if (status === 200) break;
      assert.ok(!isTimeUp(begun, 20_000), "the places are not free in time");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  test("another site's page gets nothing", async () => {
    for (const [path, headers, status] of [
      ["events", { ...EVENTS, "sec-fetch-site": "cross-site" }, 403],
      ["events", { ...EVENTS, origin: "http://evil.example" }, 403],
      ["events", { accept: "*/*" }, 406],
      ["state", { "sec-fetch-site": "same-site" }, 403],
      ["state", { host: "evil.example" }, 403],
      ["loads", { "sec-fetch-site": "cross-site" }, 403],
      ["source?file=x", { "sec-fetch-site": "cross-site" }, 403],
    ] as const) {
      const { status: received } = await statusOf(tollgate.debug, `/dashboard/${path}`, headers);
      assert.equal(received, status, `${path} ${JSON.stringify(headers)}`);
    }
  });

  test("shows a file of the configuration, and no other", async () => {
    const file = join(tollgate.config, "shop.yaml");
    const secret = join(mkdtempSync(join(tmpdir(), "dashboard-")), "secret.yaml");
    writeFileSync(secret, "password: x\n");
    symlinkSync(secret, join(tollgate.config, "link.yaml"));
    try {
      const ask = (path: string) =>
        fetch(`http://${tollgate.debug}/dashboard/source?${new URLSearchParams({ file: path, line: "4" })}`);
      const shown = (await (await ask(file)).json()) as SourceText;
      assert.equal(shown.lines.join("\n"), rules(3).trimEnd());
      assert.deepEqual([shown.first, shown.total], [1, 7]);
      for (const path of [
        "/etc/passwd",
        `${tollgate.config}/../../x`,
        secret,
        join(tollgate.config, "link.yaml"),
        "x",
      ]) {
        const response = await ask(path);
        assert.equal(response.status, 404, path);
        assert.doesNotMatch(await response.text(), /password/);
      }
    } finally {
      rmSync(join(tollgate.config, "link.yaml"));
      rmSync(join(secret, ".."), { recursive: true });
    }
  });

  test("the page follows a reload, and shows the reason of a failed one", async () => {
    writeFileSync(join(tollgate.config, "shop.yaml"), rules(7).replace("key: path", "key: page"));
    const loaded = await stateWith(tollgate, ({ rules: { rows } }) =>
      rows.some(({ limit }) => limit === "7 per day"),
    );
    assert.ok(loaded.rules.rows.some(({ key }) => key === "shop.page_/login"));
    assert.equal(
      loaded.rules.rows.find(({ key }) => key === "shop.path_/login")?.origin ?? "request",
      "request",
    );
    writeFileSync(join(tollgate.config, "shop.yaml"), "domain: shop\ndescriptors: [{ kye: x }]\n");
    await stateWith(tollgate, ({ lastLoadFailed }) => lastLoadFailed);
    const [last, ...earlier] = (await (
      await fetch(`http://${tollgate.debug}/dashboard/loads`)
    ).json()) as LoadEntry[];
    assert.deepEqual([last!.succeeded, last!.errors], [false, last!.diagnostics.length]);
    assert.match(last!.diagnostics[0]!.place.text, /shop\.yaml:2:\d+$/);
    assert.match(last!.diagnostics[0]!.sourceLine!, /kye/);
    assert.ok(earlier.some(({ succeeded, rules: number }) => succeeded && number === 2));
  });
});

test("shows each thread with its connections, and adds up their hits", async () => {
  const tollgate = await startTollgate({ config: { "shop.yaml": rules(3) }, env: { WORKERS: "2" } });
  const callers = Array.from(
    { length: 6 },
    () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
  );
  try {
    await Promise.all(callers.map((caller) => caller.ask(request("shop", descriptor("user=ann")))));
    const { process, rules: page } = await stateWith(
      tollgate,
      ({ process: { threads } }) => {
        const connections = threads.map((thread) => thread.connections ?? 0);
        return connections.reduce((sum, number) => sum + number, 0) === callers.length;
      },
      // The threads share their connections: an idle client that is sent away connects again with its next call.
      () => Promise.all(callers.map((caller) => caller.ask(request("shop", descriptor("path=/login"))))),
    );
    assert.deepEqual(
      process.threads.map(({ name }) => name),
      ["main", "grpc-1", "grpc-2"],
    );
    const user = page.rows.find(({ key }) => key === "shop.user")!;
    assert.deepEqual([user.totals!.total_hits, user.totals!.over_limit], [6, 3]);
  } finally {
    for (const caller of callers) caller.close();
    await tollgate.stop();
  }
});

test("the rest of a limit follows an operator's override", async () => {
  const tollgate = await startTollgate({ config: { "shop.yaml": rules(3) }, env: adminEnv });
  try {
    await hit(tollgate, "path", "/login");
    const answer = await adminCall(adminAddress(tollgate), "/admin/v1/overrides/sale", {
      method: "PUT",
      token: ALICE,
      body: { domain: "shop", descriptor: "path=/login", requestsPerUnit: 50 },
    });
    assert.ok(answer.status < 300, JSON.stringify(answer.json));
    await stateWith(tollgate, ({ rules: { rows } }) => rows.some(({ left }) => left?.remaining === 49));
  } finally {
    await tollgate.stop();
  }
});

test("an operator's token shows keys where they are hidden", async () => {
  const tollgate = await startTollgate({ config: { "shop.yaml": rules(3) }, env: adminEnv });
  try {
    for (const [authorization, shown] of [
      [undefined, false],
      [`Bearer ${ALICE}`, true],
      [`Bearer ${ALICE}x`, false],
      [ALICE, false],
    ] as const) {
      const headers = new Headers({ "x-forwarded-for": "203.0.113.7" });
      if (authorization !== undefined) headers.set("authorization", authorization);
      const response = await fetch(`http://${tollgate.debug}/dashboard/state`, { headers });
      assert.equal(((await response.json()) as Frame).keys.shown, shown, `${authorization}`);
    }
  } finally {
    await tollgate.stop();
  }
});

test("DEBUG_DASHBOARD=false: / is text, and /dashboard does not exist", async () => {
  const tollgate = await startTollgate({
    config: { "shop.yaml": rules(3) },
    env: { DEBUG_DASHBOARD: "false" },
  });
  try {
    const page = await fetch(`http://${tollgate.debug}/`, { headers: HTML });
    assert.match(page.headers.get("content-type")!, /^text\/plain/);
    assert.equal((await fetch(`http://${tollgate.debug}/dashboard/state`)).status, 404);
  } finally {
    await tollgate.stop();
  }
});

test("a stream ends when the service stops", async () => {
  const tollgate = await startTollgate({ config: { "shop.yaml": rules(3) } });
  const { reader } = await stream(tollgate, new AbortController().signal);
  await reader.read();
  const [{ code }] = await Promise.all([
    tollgate.stop(),
    (async () => {
      while (!(await reader.read().catch(() => ({ done: true }))).done);
    })(),
  ]);
  assert.equal(code, 0);
});

test("the built page is that of its sources", () => {
  const folder = mkdtempSync(join(tmpdir(), "dashboard-"));
  try {
    generate(folder);
    const committed = new URL("../src/dashboard/gen/page.ts", import.meta.url);
    assert.ok(
      readFileSync(join(folder, "page.ts"), "utf8") === readFileSync(committed, "utf8"),
      "npm run generate -- --page",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Unlike fetch, sends any Host and Sec-Fetch-Site. */
async function statusOf(address: string, path: string, headers: Readonly<Record<string, string>>) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number }>();
  http
    .request(`http://${address}${path}`, { headers }, (response) => {
      response.destroy();
      resolve({ status: response.statusCode! });
    })
    .on("error", reject)
    .end();
  return promise;
}
