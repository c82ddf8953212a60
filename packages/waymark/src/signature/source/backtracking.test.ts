import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { mayBacktrackWithoutBound } from "./backtracking.ts";

/** recheck 4.5 also classifies these as exponential or polynomial. */
const UNBOUNDED = [
  "^(a+)+$",
  "^(a|a)*$",
  "^(a|aa)+$",
  "^(a|b|ab)*c$",
  "^a*a*$",
  "^a*b?a*$",
  "a+$",
  "\\s+$",
  "(.*)x",
  "^(\\w+\\s?)*$",
  "^(.*)*$",
  "(x+x+)+y",
  "^(?:a?){40}a{40}$",
  "^.*a.*a.*$",
  "^(\\d+|[0-9a]+)*$",
  "^((a*)*)*$",
  "^(?=(a+)+$)a",
  "^(?:(?:a|b)+)+c",
  "^(\\p{L}+\\s?)+$",
  "^(.+)\\1+$",
  "^a{0,1000}a{0,1000}b$",
  "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$",
  "^(?<one>a+)+$",
];

const BOUNDED = [
  "^[a-z]+$",
  "^[A-Z]{3}$",
  "^\\p{Lu}",
  "^[a-z ]+@[a-z]+$",
  "^x",
  "^(foo|bar)$",
  "^\\d{3}-\\d{4}$",
  "^[a-z]+(?:-[a-z]+)*$",
  "^[a-z0-9]+(?:\\.[a-z0-9]+)*@[a-z]+\\.[a-z]{2,}$",
  "^#[0-9a-f]{6}$",
  "^.*$",
  "^(a|b)*$",
  "^[\\w.-]+$",
  "^[^@]+@[^@]+$",
  "^\\+?[1-9]\\d{1,14}$",
  "^(?:\\d{1,3}\\.){3}\\d{1,3}$",
  "^(?!-)[a-z-]+$",
  "^v\\d+\\.\\d+\\.\\d+$",
  "^[a-z]([a-z0-9-]*[a-z0-9])?$",
  "^\\s*\\S+\\s*$",
  "^(?:[01]\\d|2[0-3]):[0-5]\\d$",
  "^(?=.*\\d)(?=.*[a-z]).{8,64}$",
  "^[\\p{L}\\p{N} .,'-]{1,100}$",
  "^(?<year>\\d{4})-(?<month>\\d\\d)$",
  "^[(?<a>]\\(?<b>$",
  "foo",
  "^-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?$",
];

suite("patterns that may backtrack without bound", () => {
  for (const pattern of UNBOUNDED) test(pattern, () => assert.equal(mayBacktrackWithoutBound(pattern), true));
});

suite("patterns that may not", () => {
  for (const pattern of BOUNDED) test(pattern, () => assert.equal(mayBacktrackWithoutBound(pattern), false));
});

test("a pattern that the detector does not support counts as unbounded", () => {
  assert.equal(mayBacktrackWithoutBound("^(?<a>x)\\k<a>$"), true);
});
