import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { build } from "esbuild";
import { signatureOf } from "./support.fixture.ts";

test("a binder runs without Node and without code from strings", async () => {
  const entry = fileURLToPath(new URL("./bind/binder.ts", import.meta.url));
  // for a browser, where an import of a Node module fails
  const options = {
    platform: "browser",
    format: "iife",
    globalName: "binder",
    write: false,
    bundle: true,
    minify: true,
  } as const;
  const { outputFiles } = await build({ entryPoints: [entry], logLevel: "silent", ...options });
  const context = vm.createContext({ URL, File, Blob }, { codeGeneration: { strings: false, wasm: false } });
  vm.runInContext(outputFiles[0]!.text, context);
  assert.throws(
    () => vm.runInContext("new Function('')", context),
    /Code generation from strings disallowed/,
  );

  const signature = signatureOf(
    "class Example { GET(id: number, { since, mail }: { since?: Date; /** @format email @pattern ^a */ mail: string }) {} }",
  );
  context.signature = JSON.stringify(signature);
  const bind = (segment: string, query: string): unknown => {
    context.request = { segments: [segment], query };
    return JSON.parse(
      vm.runInContext(
        "JSON.stringify(binder.compileBinder(JSON.parse(signature)).bind(request))",
        context,
      ) as string,
    );
  };
  assert.deepEqual(bind("12", "since=2026-01-01&mail=a@b.c"), [
    12,
    { since: "2026-01-01T00:00:00.000Z", mail: "a@b.c" },
  ]);
  assert.deepEqual(bind("x", "mail=b@b.c"), {
    status: 400,
    faults: [
      { in: "path", name: "id", message: "must be a number" },
      { in: "query", name: "mail", message: "must match ^a" },
    ],
  });
});
