import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KeyMask } from "./key-mask.ts";

const request = [
  { key: "tenant", value: "acme" },
  { key: "user", value: "alice@example.com" },
];
const masked = (keys: string[], style: "hash" | "hide" = "hash", salt = "salt") =>
  new KeyMask({ keys, style, salt }).entries(request);

describe("the mask of values", () => {
  it("leaves other keys alone", () => {
    assert.deepEqual(masked([]), [
      ["tenant", "acme"],
      ["user", "alice@example.com"],
    ]);
    assert.deepEqual(masked(["account"]), masked([]));
  });

  it("hides values", () => {
    assert.deepEqual(masked(["user"], "hide"), [
      ["tenant", "acme"],
      ["user", "*****"],
    ]);
  });

  it("hashes the values of chosen keys, equal ones to equal hashes", () => {
    const [tenant, user] = masked(["user"]);
    assert.deepEqual(tenant, ["tenant", "acme"]);
    assert.match(user![1], /^#[0-9a-f]{16}$/);
    assert.deepEqual(masked(["user"]), [tenant, user]);
    assert.notDeepEqual(masked(["user"], "hash", "other"), [tenant, user]);
    for (const [, value] of masked(["*"])) assert.match(value, /^#/);
  });

  it("hashes equal values of different keys differently", () => {
    const mask = new KeyMask({ keys: ["*"], style: "hash", salt: "" });
    const hashes = mask
      .entries([
        { key: "a", value: "bc" },
        { key: "ab", value: "c" },
        { key: "b", value: "bc" },
      ])
      .map(([, value]) => value);
    assert.equal(new Set(hashes).size, 3);
  });

  it("cuts long texts, and shows bytes that are not UTF-8", () => {
    const mask = new KeyMask({ keys: [], style: "hash", salt: "" });
    const [long, other] = mask.entries([
      { key: "k", value: "v".repeat(300) },
      { key: "k", value: "v".repeat(301) },
    ]);
    assert.match(long![1], /^v{256}\.\.\.#[0-9a-f]{16}$/);
    assert.notDeepEqual(long, other);
    assert.deepEqual(mask.entries([{ key: "k", value: "a\udcff" }]), [["k", "a\\xFF"]]);
  });
});
