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
  PATCH(count: bigint, { any }: { any: unknown }) {
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

test("an application that uses everything keeps everything", async () => {
  const options = {
    openapi: { page: false },
    cors: { origins: ["https://app.example"] },
    versions: { names: ["v1"] },
    onAnswer: () => undefined,
    after: () => undefined,
    onError: () => undefined,
  };
  const code = "HttpError; this.headers; this.cookies; this.request; this.keywords; this.redirect()";
  const parts = await unusedOf({ Everything, v1: { Plain } }, options, code);
  assert.deepEqual([...parts.keys()], []);
});

test("the titles that every bundle keeps are those of Waymark's own statuses", () => {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  const files = globSync("**/*.ts", { cwd: folder, exclude: ["kit/**", "launcher/**", "**/*.test.ts"] });
  const found = files.flatMap((file) => {
    const code = readFileSync(join(folder, file), "utf8").replaceAll(/^ \* .*$/gm, "");
    return [...code.matchAll(/HttpError\(\s*(\d{3})\b|^ {2}[A-Z_]+: (4\d\d),$/gm)];
  });
  const statuses = found.map(([, thrown, ofServer]) => Number(thrown ?? ofServer));
  assert.deepEqual([...new Set(statuses)].sort(), OWN_STATUSES);
});

test("an option that hides the projection keeps it", async () => {
  const edge = "routing/build-routes>signature/project/projection";
  assert.ok((await unusedOf({ Plain })).has(edge));
  assert.ok(!(await unusedOf({ Plain }, { projection: false })).has(edge));
});
