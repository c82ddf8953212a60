import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { componentNames, createHealth, type Health } from "./health.ts";
import { createLogger } from "./log.ts";

function make(): { health: Health; lines: string[]; heard: boolean[] } {
  const lines: string[] = [];
  const writer = { dropped: 0, write: (line: string) => void lines.push(line), flush: async () => {} };
  const health = createHealth(createLogger({ writer }));
  const heard: boolean[] = [];
  health.subscribe((healthy) => heard.push(healthy));
  return { health, lines, heard };
}

describe("health", () => {
  it("is OK if every component is healthy", () => {
    const { health } = make();
    health.component(componentNames.store);
    assert.equal(health.healthy, true);
    assert.equal(health.body(), "OK");
  });

  it("starts unhealthy with an unhealthy component, until the component heals", () => {
    const { health, heard } = make();
    health.component(componentNames.store);
    const config = health.component(componentNames.config, "no configuration is loaded");
    assert.equal(health.healthy, false);
    assert.equal(health.body(), "config: no configuration is loaded\n");
    config.heal();
    assert.equal(config.healthy, true);
    assert.equal(health.body(), "OK");
    config.fail("no domain is left");
    assert.equal(health.healthy, false);
    assert.deepEqual(heard, [false, true, false]);
  });

  it("treats the main and the per-second store separately, and lists each unhealthy one", () => {
    const { health, heard } = make();
    const main = health.component(componentNames.store);
    const perSecond = health.component(componentNames.perSecondStore);
    main.fail("no active connection");
    perSecond.fail("no active connection");
    assert.equal(health.body(), "kvstore: no active connection\nkvstore_per_second: no active connection\n");
    perSecond.heal();
    assert.equal(health.healthy, false);
    assert.equal(health.body(), "kvstore: no active connection\n");
    main.heal();
    assert.deepEqual(heard, [false, true]);
  });

  it("stays unhealthy after SIGTERM", () => {
    const { health, heard } = make();
    const store = health.component(componentNames.store);
    health.terminate();
    health.terminate();
    store.fail("gone");
    store.heal();
    assert.equal(health.healthy, false);
    assert.equal(health.body(), "termination: the service is shutting down\n");
    assert.deepEqual(heard, [false]);
  });

  it("logs each transition once", () => {
    const { health, lines } = make();
    const store = health.component(componentNames.store);
    store.fail("no active connection");
    store.fail("still none");
    store.heal();
    store.heal();
    assert.equal(lines.length, 2);
    assert.match(lines[0]!, /component kvstore is unhealthy: no active connection/);
    assert.match(lines[1]!, /component kvstore is healthy/);
  });

  it("keeps notifying after a listener throws or is removed", () => {
    const { health, heard } = make();
    const stop = health.subscribe(() => {
      throw new Error("a broken stream");
    });
    const store = health.component(componentNames.store);
    store.fail("x");
    stop();
    store.heal();
    assert.deepEqual(heard, [false, true]);
  });

  it("refuses a second component of the same name", () => {
    const { health } = make();
    health.component("config");
    assert.throws(() => health.component("config"), /config already exists/);
  });
});
