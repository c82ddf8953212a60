/**
 * `npm run bench -- overrides`: the CPU of a decision in the handler, embedded, with overrides of operators. All kinds take
 * turns, and the figures are ratios to decisions without overrides. Fails (exit status 1) if decisions of rules without an
 * override pay for them: `bench/allocations` has the same guard for memory.
 */
import { maxResponseSize, writeResponse } from "../../packages/tollgate/src/protocol/encode-response.ts";
import type { RateLimitResponse } from "../../packages/tollgate/src/protocol/messages.ts";
import { decisions, message, overridesOf } from "../support/decision.ts";
import { median, spread, table } from "../support/figures.ts";

const ROUNDS = 60;
const CALLS = 20_000;
/** The noise of a busy machine. */
const MOST = 1.1;

export async function main(): Promise<void> {
  const asked = message("user=ann");
  const kinds = [
    { name: "no overrides (`OVERRIDES_ENABLED=false`)", run: path(asked, undefined) },
    { name: "none set", run: path(asked, []), isGuarded: true },
    { name: "overrides of another rule", run: path(asked, ["tenant=acme"]), isGuarded: true },
    { name: "an override of another value", run: path(asked, ["user=bob"]) },
    { name: "an override of this value", run: path(asked, ["user=ann"]) },
  ];
  for (let round = 0; round < 20; round++) for (const { run } of kinds) nanoseconds(run);
  const figures = kinds.map(() => [] as number[]);
  for (let round = 0; round < ROUNDS; round++)
    for (let turn = 0; turn < kinds.length; turn++) {
      const which = (turn + round) % kinds.length;
      figures[which]!.push(nanoseconds(kinds[which]!.run));
    }
  const ratios = figures.map((own) => own.map((figure, round) => figure / figures[0]![round]!));
  console.log(
    table(
      ["overrides", "CPU of a decision", "ratio"],
      kinds.map(({ name }, which) => [
        name,
        `${median(figures[which]!).toFixed(0)} ns`,
        spread(ratios[which]!),
      ]),
    ),
  );
  for (const [which, { name, isGuarded }] of kinds.entries())
    if (isGuarded && median(ratios[which]!) > MOST) {
      console.error(`${name}: a decision takes more than ${MOST} times the CPU of one without overrides`);
      process.exitCode = 1;
    }
}

/** @param overridden descriptors with an override; undefined for a service without overrides */
function path(asked: Uint8Array, overridden: readonly string[] | undefined): () => void {
  const { handler } = decisions({ overrides: overridden && overridesOf(overridden) });
  const output = new Uint8Array(256);
  const now = Date.now();
  return () => {
    const response = handler.decideMessage(asked, 0, asked.length, now, 0) as RateLimitResponse;
    maxResponseSize(response);
    writeResponse(response, output, 0);
  };
}

function nanoseconds(run: () => void): number {
  const start = process.threadCpuUsage();
  for (let call = 0; call < CALLS; call++) run();
  const { user, system } = process.threadCpuUsage(start);
  return ((user + system) * 1000) / CALLS;
}
