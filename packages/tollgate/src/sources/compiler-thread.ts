/** A thread that compiles rules. It answers each job with a {@link CompilerAnswer}. */
import { parentPort } from "node:worker_threads";
import { type CompileJob, runJob } from "./compile-job.ts";
import type { CompilerAnswer } from "./rule-compiler.ts";

const main = parentPort!;

main.on("message", (job: CompileJob) => {
  const send = (answer: CompilerAnswer): void => main.postMessage(answer);
  runJob(job).then(
    (result) => send({ result }),
    (error: unknown) => send({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
