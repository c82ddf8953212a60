import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Application, Controller } from "@tollway/waymark";
import type { ControllerTable } from "../application/options.ts";
import { OWN_STATUSES } from "../http/status.ts";
import { unusedParts } from "./unused-parts.ts";

const ANY = {
  "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value }) },
} as const;

class Plain extends Controller {
  GET() {
    return "plain";
  }
}

/** Uses all of Waymark. */
class Everything extends Controller {
  static override guard = () => undefined;
  static override schema = { PUT: { title: ANY } };
  GET(
    day: Date,
    link: URL,
    {
      tags,
      when,
      at,
      kind,
    }: { tags?: string[]; when?: Tree | null; at?: Temporal.PlainDate; kind?: 1 | boolean },
  ): { id: number } {
    return { id: Number([day, link, tags, when, at, kind].length) };
  }
  /** @param id @minimum 1 */
  DELETE(id: number) {
    return id;
  }
  OPTIONS(...path: string[]) {
    return path;
  }
  PATCH(count: bigint, { any }: { any: unknown; [other: string]: unknown }) {
    return typeof any === "string" ? any : count;
  }
  POST({ file }: { file: File }) {
    return file.name;
  }
  PUT({ title }: { title: string }) {
    return title;
  }
}

interface Tree {
  /** @format date */
  day?: string;
  children?: Tree[];
}

async function unusedOf(controllers: ControllerTable, options = {}, code = ""): Promise<Map<string, string>> {
  const application = new Application({ controllers, ...options });
  return unusedParts({
    routes: await application.describe(),
    options: application.options,
    hasOptions: true,
    isLinked: false,
    isFetch: false,
    hasNode: true,
    code,
  });
}

test("every part names imports that the modules have", async () => {
  const parts = await unusedOf({ Plain });
  assert.ok(parts.size >= 12);
  for (const [edge, text] of parts) {
    const [from, to] = edge
      .split(">")
      .map((stem) => fileURLToPath(new URL(`../${stem}.ts`, import.meta.url)));
    assert.ok(existsSync(to!), edge);
    const source = readFileSync(from!, "utf8");
    for (const [, name] of text.matchAll(/export (?:function|\{ refuse as) (\w+)/g))
      assert.match(source, new RegExp(`\\b${name!}\\b`));
    const stem = to!.slice(to!.lastIndexOf("/") + 1);
    assert.ok(source.includes(`/${stem}"`), `${from} imports ${stem}`);
  }
});

test("an application that uses everything has every part", async () => {
  const options = {
    openapi: { page: false },
    cors: { origins: ["https://app.example"] },
    versions: { names: ["v1"] },
    onAnswer: () => undefined,
    after: () => undefined,
    onError: () => undefined,
    debug: true,
    onStop: () => undefined,
  };
  const code = "HttpError; this.headers; this.cookies; this.request; this.keywords; this.redirect()";
  const parts = await unusedOf({ Everything, v1: { Plain } }, options, code);
  // The kinds of its types are always a table.
  assert.deepEqual([...parts.keys()], ["signature/convert/compile>signature/convert/kinds"]);
});

test("the titles that every bundle has are those of the errors of the core", () => {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  // The errors of Node's server bring their titles.
  const exclude = ["kit/**", "launcher/**", "serve/node/**", "**/*.test.ts"];
  const statuses = globSync("**/*.ts", { cwd: folder, exclude }).flatMap((file) => {
    const code = readFileSync(join(folder, file), "utf8").replaceAll(/^ \* .*$/gm, "");
    return [...code.matchAll(/HttpError\(\s*(\d{3})\b/g)].map(([, status]) => Number(status));
  });
  assert.deepEqual([...new Set(statuses)].sort(), OWN_STATUSES);
});

test("an option that hides the projection keeps it", async () => {
  const edge = "routing/build-routes>signature/project/projection";
  assert.ok((await unusedOf({ Plain })).has(edge));
  assert.ok(!(await unusedOf({ Plain }, { projection: false })).has(edge));
});
