import assert from "node:assert/strict";
import { test } from "node:test";
import { plainSignature } from "./plain-signature.ts";

class Plain {
  GET() {}
  async *LIST(): AsyncGenerator<string> {}
  POST({ ...keywords }) {
    return keywords;
  }
  async PUT({ ...keywords }): Promise<unknown> {
    return keywords;
  }
}

class Typed {
  POST({ ...keywords }: { a: number }) {
    return keywords;
  }
  PUT({ ...keywords }: Record<string, number> = {}) {
    return keywords;
  }
  PATCH(id: number) {
    return id;
  }
}

function shortly(verb: string, method: unknown): string | undefined {
  return plainSignature(verb, method as () => unknown)
    ?.parameters.map(({ role, name }) => `${role} ${name}`)
    .join();
}

test("a method without parameters and an untyped rest of keywords are plain", () => {
  const { prototype } = Plain;
  const found = [prototype.GET, prototype.LIST, prototype.POST, prototype.PUT].map((method) =>
    shortly(method.name, method),
  );
  assert.deepEqual(found, ["", "", "keywords keywords", "keywords keywords"]);
});

test("a method with types is not plain, although Node has erased them", () => {
  const { prototype } = Typed;
  const found = [prototype.POST, prototype.PUT, prototype.PATCH].map((method) =>
    shortly(method.name, method),
  );
  assert.deepEqual(found, [undefined, undefined, undefined]);
});
