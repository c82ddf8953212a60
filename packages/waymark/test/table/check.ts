import assert from "node:assert/strict";
import type { Case, CaseAnswer } from "./case.ts";

/** Hop-by-hop headers, which each interface sets differently. */
const OF_THE_CONNECTION = new Set(["date", "connection", "keep-alive", "transfer-encoding", "server"]);

/** The parts of an answer that two interfaces must agree on. */
export function comparable({ status, headers, body }: CaseAnswer) {
  return {
    status,
    headers: headers
      .filter(([name]) => !OF_THE_CONNECTION.has(name))
      .map(([name, value]) => `${name}: ${value}`)
      .sort(),
    body: Buffer.from(body).toString("latin1"),
  };
}

/** Compares an answer with its row. */
export function checkAnswer(row: Case, answer: CaseAnswer): void {
  const text = Buffer.from(answer.body).toString("utf8");
  assert.equal(answer.status, row.status, `status ${answer.status}: ${text}`);
  const all = (name: string) => answer.headers.filter(([each]) => each === name).map(([, value]) => value);
  for (const [name, expected] of Object.entries(row.answers ?? {})) {
    const values = all(name);
    if (expected === null) assert.deepEqual(values, [], name);
    else if (typeof expected === "string") assert.equal(values.join("; "), expected, name);
    else assert.match(values.join("; "), expected, name);
  }
  if (row.json !== undefined) assert.deepEqual(JSON.parse(text), row.json);
  if (typeof row.text === "string") assert.equal(text, row.text);
  else if (row.text !== undefined) assert.match(text, row.text);
  if (row.faults !== undefined) {
    const { errors = [] } = JSON.parse(text) as { errors?: { in: string; name: string }[] };
    assert.deepEqual(errors.map((fault) => `${fault.in}.${fault.name}`).sort(), [...row.faults].sort());
  }
  if (answer.status >= 400 && row.text === undefined && answer.body.length > 0) {
    assert.deepEqual(all("content-type"), ["application/problem+json"]);
    assert.equal((JSON.parse(text) as { status: number }).status, answer.status);
  }
  const [length] = all("content-length");
  if (length !== undefined && row.method !== "HEAD") assert.equal(Number(length), answer.body.length);
}
