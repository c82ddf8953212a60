import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { BuildError } from "./build-error.ts";
import type { TargetName } from "./targets.ts";

const CHECK = fileURLToPath(
  new URL(`./loaded-module.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url),
);
/** A module that has not loaded by then never will. */
const TIMEOUT = 30_000;

/**
 * Loads a module as its platform does when it is uploaded, and its routes from the manifest, in a process of its own.
 * Runnable files are not loaded: they would serve.
 */
export async function checkModule(file: string, target: TargetName, hasNode: boolean): Promise<void> {
  if (target !== "worker" && target !== "lambda" && target !== "lambda-stream") return;
  const child = spawn(
    process.execPath,
    // A worker may not compile text.
    [
      ...(target === "worker" ? ["--disallow-code-generation-from-strings"] : []),
      CHECK,
      file,
      target,
      String(hasNode),
    ],
    { stdio: ["ignore", "ignore", "pipe"], timeout: TIMEOUT },
  );
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  const [status] = (await once(child, "close")) as [number | null];
  if (status === 0) return;
  const reason = text.trim() || `it was not loaded within ${TIMEOUT / 1000} s`;
  throw new BuildError("MODULE_FAILED", `${file} would not start where it is deployed: ${reason}`);
}
