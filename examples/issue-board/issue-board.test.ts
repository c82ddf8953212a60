import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inPieces } from "./pieces.ts";
import { scenario } from "./scenario.ts";
import { serveBoard } from "./served-board.ts";

const url = await serveBoard("file");
for (const [name, run] of scenario({ url })) test(name, run);

test("the page's policy allows only the sources that the page needs", async () => {
  const response = await fetch(url);
  assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
  assert.match(
    response.headers.get("content-security-policy") ?? "",
    /^default-src 'none'; script-src 'sha256-/,
  );
  assert.match(await response.text(), /<title>Issue board/);
});

test("pieces have one size for any chunks of the body", async () => {
  const bytes = Uint8Array.from({ length: 25 }, (_, at) => at);
  for (const arriving of [[25], [1, 24], [10, 10, 5], [4, 0, 17, 4], Array<number>(25).fill(1)]) {
    async function* body() {
      let at = 0;
      for (const length of arriving) {
        yield bytes.subarray(at, at + length);
        at += length;
      }
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of inPieces(body(), 10)) pieces.push(piece);
    assert.deepEqual(
      pieces.map((piece) => [...piece]),
      [[...bytes.subarray(0, 10)], [...bytes.subarray(10, 20)], [...bytes.subarray(20)]],
    );
  }
});

test("the document has the security of each operation, and the reviewed routes and declarations are up to date", async () => {
  const { paths, components } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security?: unknown }>>;
    components: { securitySchemes: unknown };
  };
  assert.deepEqual(components.securitySchemes, {
    session: { type: "apiKey", in: "cookie", name: "session" },
  });
  const security = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => [`${verb} ${path}`, operation.security] as const),
  );
  const endpoints = security.filter(([name]) => name !== "get /");
  assert.equal(endpoints.length, 15, "the README names fifteen endpoints besides the page");
  const needing = security
    .filter(([, own]) => JSON.stringify(own) === '[{"session":[]}]')
    .map(([name]) => name);
  assert.deepEqual(needing.sort(), [
    "patch /issue/{id}",
    "post /issue/attachments/{issue}",
    "post /issue/comments/{issue}",
    "post /issues",
  ]);
  const cwd = import.meta.dirname;
  const launcher = join(cwd, "..", "..", "packages", "waymark", "bin", "waymark.mjs");
  // The commands need no secret and no database.
  const { BOARD_SECRET: _, ...env } = process.env;
  const waymark = (...args: string[]) =>
    execFileSync(process.execPath, [launcher, ...args, "--app=app.ts"], { cwd, env });
  waymark("routes", "--check=routes.txt");
  const folder = mkdtempSync(join(tmpdir(), "issue-board-types-"));
  for (const [file, ...args] of [["waymark.api.d.ts"], ["page/gen/board.d.ts", "--standalone"]] as const) {
    const written = readFileSync(join(cwd, file), "utf8");
    const out = args.length === 0 ? join(cwd, file) : join(folder, "board.d.ts");
    waymark("types", `--out=${out}`, ...args);
    assert.equal(readFileSync(out, "utf8"), written, file);
  }
  rmSync(folder, { recursive: true });
});
