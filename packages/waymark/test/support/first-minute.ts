import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The file of the first minute, as printed in the manual and the README. */
export const CONTROLLERS = `import { Controller } from "@tollway/waymark";

export class Default extends Controller {
  GET() { return "Default handler"; }
  async POST({ name }: { name: string }) { return \`hello \${name}\`; }
}

export class Foo extends Controller {
  GET(id: number, { verbose = false }: { verbose?: boolean }) { return { id, verbose }; }
}
`;

async function curl(...args: string[]): Promise<string> {
  return (await promisify(execFile)("curl", ["-sS", "--max-time", "10", ...args])).stdout;
}

/** Checks the first minute's promises with the printed curl commands. */
export async function checkFirstMinute(url: string): Promise<void> {
  assert.equal(await curl(url), '"Default handler"');
  assert.equal(await curl(`${url}/`, "-d", "name=Awesome you"), '"hello Awesome you"');
  assert.equal(await curl(`${url}/foo/12?verbose=true`), '{"id":12,"verbose":true}');
  const refused = await curl("-i", `${url}/foo/x`);
  assert.match(refused, /^HTTP\/1\.1 400 /);
  assert.match(refused, /content-type: application\/problem\+json/i);
  const problem = JSON.parse(refused.slice(refused.indexOf("\r\n\r\n"))) as {
    errors: { in: string; name: string }[];
  };
  assert.deepEqual(
    problem.errors.map((fault) => [fault.in, fault.name]),
    [["path", "id"]],
  );
}
