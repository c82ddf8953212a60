import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { hashOf, keptFolder } from "./kept-folders.ts";

let base: string;
let root: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "tollway-kept-"));
  root = join(base, "kept");
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** Makes the folder `name` with a file that says so. @returns the file's text afterwards */
async function keep(name: string, text = name, most = 3): Promise<string> {
  const path = await keptFolder({ root, most }, name, (folder) => writeFile(join(folder, "file"), text));
  return readFile(join(path, "file"), "utf8");
}

/** Sets the last use of a folder to `hours` ago. */
async function age(name: string, hours: number): Promise<void> {
  const then = new Date(Date.now() - hours * 3_600_000);
  await utimes(join(root, name), then, then);
}

describe("a kept folder", () => {
  it("is made once", async () => {
    assert.equal(await keep("a", "first"), "first");
    assert.equal(await keep("a", "second"), "first");
    assert.deepEqual(await readdir(root), ["a"]);
  });

  it("does not exist after a failed attempt, and is made again", async () => {
    const fails = keptFolder({ root, most: 3 }, "a", async (folder) => {
      await writeFile(join(folder, "file"), "a part");
      throw new Error("no space");
    });
    await assert.rejects(fails, /no space/);
    assert.deepEqual(await readdir(root), []);
    assert.equal(await keep("a"), "a");
  });

  it("is complete when several processes make it at once", async () => {
    let made = 0;
    const both = Array.from({ length: 4 }, async (_, index) => {
      const path = await keptFolder({ root, most: 3 }, "a", async (folder) => {
        made++;
        await writeFile(join(folder, "one"), String(index));
        await writeFile(join(folder, "two"), String(index));
      });
      return [await readFile(join(path, "one"), "utf8"), await readFile(join(path, "two"), "utf8")];
    });
    for (const [one, two] of await Promise.all(both)) assert.equal(one, two);
    assert.ok(made > 1, "they ran at once");
    assert.deepEqual(await readdir(root), ["a"]);
  });

  it("makes room for another one: the least recently used one goes", async () => {
    for (const [index, name] of ["a", "b", "c"].entries()) {
      await keep(name);
      await age(name, 10 - index);
    }
    await keep("a");
    await keep("d");
    assert.deepEqual((await readdir(root)).sort(), ["a", "c", "d"]);
  });

  it("the remains of a killed process are removed, and the unfinished folder of a running process stays", async () => {
    await keep("a");
    for (const name of ["unfinished-old", "unfinished-new"]) await mkdir(join(root, name));
    await age("unfinished-old", 2);
    await keep("b");
    assert.deepEqual((await readdir(root)).sort(), ["a", "b", "unfinished-new"]);
  });
});

describe("a hash of files", () => {
  const files = { "a.ts": "a", "folder/b.ts": "b" };
  const hash = async (contents: Readonly<Record<string, string>>, parts: readonly string[] = []) => {
    for (const [name, text] of Object.entries(contents)) {
      await mkdir(join(base, name, ".."), { recursive: true });
      await writeFile(join(base, name), text);
    }
    return hashOf(base, Object.keys(contents), parts);
  };

  it("is the same for the same files in any order", async () => {
    assert.equal(await hash(files), await hash(Object.fromEntries(Object.entries(files).reverse())));
  });

  const CHANGES: Readonly<Record<string, [contents: Readonly<Record<string, string>>, parts?: string[]]>> = {
    "another content": [{ ...files, "a.ts": "A" }],
    "another name": [{ "A.ts": "a", "folder/b.ts": "b" }],
    "another file": [{ ...files, "c.ts": "" }],
    "one file less": [{ "a.ts": "a" }],
    "content moved from one file to the next": [{ "a.ts": "", "folder/b.ts": "ab" }],
    "another part": [files, ["v26"]],
  };
  for (const [change, [contents, parts]] of Object.entries(CHANGES))
    it(`changes with ${change}`, async () => {
      assert.notEqual(await hash(contents, parts), await hash(files));
    });
});
