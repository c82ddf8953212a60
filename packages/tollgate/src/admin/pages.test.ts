import assert from "node:assert/strict";
import { test } from "node:test";
import { adminPages } from "./pages.ts";

test("no method has parameters: the published package has no types to read them from", () => {
  const nothing = {} as never;
  const pages = adminPages({ operations: nothing, overrides: nothing, audit: nothing, now: () => 0 });
  let methods = 0;
  const visit = (node: unknown) => {
    if (typeof node === "object" && node !== null) Object.values(node).forEach(visit);
    if (typeof node !== "function") return;
    for (const name of Object.getOwnPropertyNames(node.prototype).filter((one) => /^[A-Z]+$/.test(one))) {
      assert.match(String(node.prototype[name]), /^(?:async )?[A-Z]+\(\) \{/, `${node.name}.${name}`);
      methods += 1;
    }
  };
  visit(pages);
  assert.equal(methods, 8);
});
