import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { LineWriter } from "./descriptor-writer.ts";
import { createLogger, type Level, type LogOptions, levelOfName, logLevels } from "./log.ts";

class Lines implements LineWriter {
  dropped = 0;
  text = "";
  write(lines: string): void {
    this.text += lines;
  }
  async flush(): Promise<void> {}
}

const now = (): number => Date.UTC(2026, 0, 2, 15, 4, 5, 678);

function logged(options: LogOptions, say: (log: ReturnType<typeof createLogger>) => void): string {
  const writer = new Lines();
  say(createLogger({ writer, now, ...options }));
  return writer.text;
}

describe("the log", () => {
  it("has the contract's text format", () => {
    assert.equal(
      logged({}, (log) => log.warn("Listening for HTTP on '0.0.0.0:8080'")),
      `time="2026-01-02T15:04:05Z" level=warning msg="Listening for HTTP on '0.0.0.0:8080'"\n`,
    );
  });

  it("has the contract's JSON format", () => {
    assert.equal(
      logged({ format: "json", level: "debug" }, (log) => log.debug('say "hi"')),
      `{"@message":"say \\"hi\\"","@timestamp":"2026-01-02T15:04:05.678Z","level":"debug"}\n`,
    );
  });

  for (const [i, level] of logLevels.entries())
    it(`at level ${level} logs messages of the same or a higher severity`, () => {
      const text = logged({ level }, (log) => {
        for (const each of ["fatal", "error", "warn", "info", "debug", "trace"] as const) log[each](each);
      });
      assert.deepEqual(
        [...text.matchAll(/msg="(\w+)"/g)].map(([, word]) => word),
        logLevels.slice(1, i + 1),
      );
    });

  it("has the default level warn, which can change at run time", () => {
    const text = logged({}, (log) => {
      assert.equal(log.level, "warn");
      log.info("unheard");
      log.setLevel("info");
      assert.equal(log.level, "info");
      assert.equal(log.enabled("info"), true);
      assert.equal(log.enabled("debug"), false);
      log.info("heard");
    });
    assert.match(text, /^[^\n]*msg="heard"\n$/);
  });

  it("does not build messages of disabled levels", () => {
    logged({}, (log) => log.debug(() => assert.fail("was called")));
    assert.match(
      logged({ level: "debug" }, (log) => log.debug(() => "made late")),
      /msg="made late"/,
    );
  });

  it("accepts level names in any case", () => {
    const cases: readonly [string, Level | undefined][] = [
      ["WARN", "warn"],
      ["Warning", "warn"],
      ["trace", "trace"],
      ["PANIC", "panic"],
      ["verbose", undefined],
      ["", undefined],
    ];
    for (const [name, level] of cases) assert.equal(levelOfName(name), level);
  });

  it("writes one line for each event, whatever the message contains", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("text", "json"), (message, format) => {
        const text = logged({ format }, (log) => log.error(message));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
        assert.doesNotMatch(text.slice(0, -1), /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
        if (format === "json" && !message.includes("://"))
          assert.equal(
            JSON.parse(text)["@message"],
            message.toWellFormed() === message ? message : JSON.parse(text)["@message"],
          );
      }),
    );
  });

  it("never shows credentials", () => {
    const text = logged({}, (log) => log.warn("connecting to redis://user:s3cret@db:6379"));
    assert.doesNotMatch(text, /s3cret/);
    assert.match(text, /redis:\/\/\*\*\*\*\*@db:6379/);
  });

  it("cuts very long messages", () => {
    const text = logged({}, (log) => log.error("x".repeat(1_000_000)));
    assert.ok(text.length < 17_000);
    assert.match(text, /1000000 characters/);
  });
});
