/** The return types that the compiler infers, of classes that Node has loaded. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { typeSource } from "../declarations/type-text.ts";
import { CompiledFiles } from "./compiled.fixture.ts";
import type { MethodSignature } from "./model/signature.ts";
import { compileProjection } from "./project/projection.ts";
import { readSignatures } from "./reader.ts";
import type { ControllerClass } from "./source/class-sources.ts";

/** A method's body or whole text, and its inferred return type as TypeScript writes it. */
const CASES: readonly (readonly [method: string, type: string | undefined])[] = [
  [`GET() { return "text"; }`, "string"],
  [
    `GET(id: number) { return { id, tags: ["a"], more: null }; }`,
    "{ id: number; tags: string[]; more: null }",
  ],
  [`GET(id: number) { return id > 1; }`, "boolean"],
  [`GET(id: number) { return id > 1 ? "one" : "two"; }`, `"one" | "two"`],
  [`async GET() { return row; }`, "{ id: number; at: Date; note?: string }"],
  [`GET() { return Promise.resolve([row]); }`, "{ id: number; at: Date; note?: string }[]"],
  [`GET() { return remote(); }`, "{ far: bigint }"],
  [`GET() { return tree; }`, "Tree"],
  [`GET() { return new Map([[1, 2]]); }`, undefined],
  [`GET() { return new Made(); }`, undefined],
  [`GET() { return { run() {} }; }`, undefined],
  [`GET() { return [new Made(), tree]; }`, undefined],
  [`GET() { return JSON.parse("1"); }`, undefined],
  [`GET(it: unknown) { return it; }`, undefined],
  [`GET() { return missing(); }`, undefined],
  ["GET() { return deep; }", undefined],
  ["GET() { return grow; }", undefined],
  ["GET() { return globalThis; }", undefined],
  ["GET() { return this; }", undefined],
  ["GET(id: number) { return id > 1 ? deep : problem(404); }", "Problem<404, {}> | unknown"],
  ["GET() {}", "undefined"],
  ["GET() { throw new HttpError(410); }", "never"],
  [
    "async GET(id: number) { if (id > 1) throw new HttpError(410); else { throw new HttpError(404); } }",
    "never",
  ],
  ["GET(id: number) { try { row.id = id; } catch { return 1; } throw new HttpError(410); }", "number"],
  ["GET(id: number) { if (id > 1) throw new HttpError(410); }", "undefined"],
  ["GET(id: number) { if (id > 1) return; throw new HttpError(410); }", "undefined"],
  [`async GET() { await remote(); }`, "undefined"],
  [`GET(id: number) { if (id > 1) return row.id; }`, "undefined | number"],
  [`GET(id: number) { return id > 1 ? row.id : undefined; }`, "undefined | number"],
  [`GET() { return new Response("x"); }`, "Response"],
  [`GET() { return this.redirect("/"); }`, "Response"],
  [`GET() { return new TextEncoder().encode("x"); }`, "Uint8Array"],
  [`GET() { return Buffer.from("x"); }`, "Uint8Array"],
  [`GET() { return new Blob([]); }`, "Blob"],
  [`GET() { return createReadStream("x"); }`, "AsyncGenerator<Uint8Array>"],
  [`GET() { return new Blob([]).stream(); }`, "AsyncGenerator<Uint8Array>"],
  [`*GET() { yield row.id; }`, "AsyncGenerator<number>"],
  [`async *GET() { yield { id: 1 }; return 2; }`, "AsyncGenerator<{ id: number }>"],
  [`async *GET() { yield new Made(); }`, "AsyncGenerator<unknown>"],
  [`GET() { return problem(404, "no"); }`, "Problem<404, {}>"],
  [
    `GET(id: number) { return id > 1 ? row.id : problem(404, "no", { code: "NO", headers: {} }); }`,
    `number | Problem<404, { code: "NO" }>`,
  ],
  [
    `async GET(id: number) { if (id > 2) return problem(409); return id > 1 ? new Made() : problem(404); }`,
    "unknown | Problem<404, {}> | Problem<409, {}>",
  ],
  [`GET(id: 404 | 410) { return problem(id); }`, "Problem<404, {}> | Problem<410, {}>"],
  [`GET(id: number) { return problem(id); }`, "Problem<number, {}>"],
  [`GET() { return new HttpError(404); }`, "Problem<number, {}>"],
  [`GET() { return new TypeError("x"); }`, "Problem<number, {}>"],
];

const files = new CompiledFiles({
  "package.json": '{ "type": "module" }',
  "old/node_modules/typescript/package.json": '{ "name": "typescript", "version": "5.9.3" }',
  "old/plain.ts": "export class Plain { GET(id: number) { return id; } }",
  "remote.ts": "export async function remote() { return { far: 1n }; }",
  "base.ts": `
    import { Controller } from "@tollway/waymark";
    export abstract class Base<T> extends Controller {
      abstract find(): T;
      GET() { return this.find(); }
      PUT() { return { found: [this.find()] }; }
    }
  `,
  "derived.ts": `
    import { Base } from "./base.ts";
    export class Numbers extends Base<number> { find() { return 1; } }
    export class Objects extends Base<{ id: number }> { find() { return { id: 1, secret: 2 }; } }
    export class Written extends Base<number> { find() { return 1; } override GET(): number { return 1; } }
  `,
  "cases.ts": `
    import { createReadStream } from "node:fs";
    import { Controller, HttpError, problem } from "@tollway/waymark";
    import { remote } from "./remote.ts";
    interface Row { id: number; at: Date; note?: string }
    interface Tree { name: string; children: Tree[] }
    class Made { #hidden = 1; shown = 2; get hidden() { return this.#hidden; } }
    type Deep<N extends 0[]> = N["length"] extends 40 ? 1 : { a: Deep<[...N, 0]>; b: Deep<[...N, 0]> };
    const deep: Deep<[]> = undefined!;
    interface Grow<T> { value: T; next: Grow<T[]> }
    const grow: Grow<string> = undefined!;
    const row: Row = { id: 1, at: new Date(0) };
    const tree: Tree = { name: "x", children: [] };
    ${CASES.map(([method], at) => `export class Case${at} extends Controller { ${method} }`).join("\n")}
  `,
});
after(() => files.close());

async function classesOf(name: string): Promise<Readonly<Record<string, ControllerClass>>> {
  return (await import(pathToFileURL(files.path(name)).href)) as Record<string, ControllerClass>;
}

const text = ({ returns }: MethodSignature): string | undefined =>
  returns && typeSource(returns, (name) => name);

suite("inferred return types", async () => {
  const classes = await classesOf("cases.ts");
  const requests = CASES.map((_, at) => ({ controller: classes[`Case${at}`]!, verb: "GET" }));
  const origins: string[] = [];
  const read = readSignatures(requests, { infer: true, origins: (from) => origins.push(...from) });
  for (const [at, [method, type]] of CASES.entries()) {
    test(method, () => {
      const signature = read[at]!;
      assert.equal(text(signature), type);
      assert.equal(signature.inferred, type === undefined ? undefined : true);
      assert.equal(compileProjection(signature), undefined);
      assert.deepEqual(JSON.parse(JSON.stringify(signature)), signature);
      // A type that is not documented leaves nothing behind.
      assert.deepEqual(Object.keys(signature.definitions), type === "Tree" ? ["Tree"] : []);
    });
  }
  test("come from files that a manifest names", () => {
    assert.ok(origins.includes(files.path("remote.ts")));
  });
  test("are read only if the start asks for them", () => {
    for (const options of [{}, { infer: true, compiler: false }]) {
      const [signature] = readSignatures(requests.slice(0, 1), options);
      assert.deepEqual([signature!.returns, signature!.inferred], [undefined, undefined]);
    }
  });
});

test("a return type is unknown without a usable compiler, and is not an error", async () => {
  const { Plain } = await classesOf("old/plain.ts");
  const [signature] = readSignatures([{ controller: Plain!, verb: "GET" }], { infer: true });
  assert.deepEqual([signature!.returns, signature!.inferred], [undefined, undefined]);
  assert.equal(signature!.parameters.length, 1);
});

test("an inherited method has the return type of the derived class", async () => {
  const { Numbers, Objects, Written } = await classesOf("derived.ts");
  const types = readSignatures(
    [Numbers!, Objects!, Written!].flatMap((controller) => [
      { controller, verb: "GET" },
      { controller, verb: "PUT" },
    ]),
    { infer: true },
  );
  assert.deepEqual(types.map(text), [
    "number",
    "{ found: number[] }",
    "{ id: number }",
    "{ found: { id: number }[] }",
    "number",
    "{ found: number[] }",
  ]);
  assert.deepEqual(
    types.map(({ inferred }) => inferred),
    [true, true, true, true, undefined, true],
  );
});
