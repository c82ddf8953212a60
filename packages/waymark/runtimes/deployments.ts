import { join } from "node:path";
import type { TargetName } from "../src/build/targets.ts";
import { serveFunction } from "./lambda/function-url.ts";
import { waymark } from "./packed.ts";
import { type Program, type RuntimeName, serveFile, serveWorker, writeServer } from "./programs.ts";

export interface Deployment {
  /** The runtime, and the form of the application. */
  readonly name: string;
  readonly runtime: RuntimeName;
  /** The target of the bundle. Undefined: runs the sources. */
  readonly target: TargetName | undefined;
  readonly serve: () => Promise<Program>;
}

export interface Apps {
  /** The folder of the application, with a manifest. */
  readonly folder: string;
  /** The module of the application. */
  readonly app: string;
  /** Its module for workers, which lack the modules of Node. */
  readonly workerApp: string;
}

/** The application on each runtime, as source and as a bundle. */
export function deploymentsOf({ folder, app, workerApp }: Apps): Deployment[] {
  const bundle = async (target: TargetName, from = app) => {
    const file = join(folder, `bundle-${target}.mjs`);
    await waymark(folder, "build", `--app=${from}`, `--target=${target}`, `--out=${file}`);
    return file;
  };
  let worker: Promise<string> | undefined;
  const workerBundle = () => (worker ??= bundle("worker", workerApp));
  const processes = (["node", "bun", "deno"] as const).flatMap((runtime): Deployment[] => [
    {
      name: `${runtime}, source`,
      runtime,
      target: undefined,
      serve: () => serveFile(runtime, writeServer(folder, runtime, app)),
    },
    {
      name: `${runtime}, bundle`,
      runtime,
      target: runtime,
      serve: async () => serveFile(runtime, await bundle(runtime)),
    },
  ]);
  return [
    ...processes,
    {
      name: "workerd, bundle",
      runtime: "workerd",
      target: "worker",
      serve: async () => serveWorker(await workerBundle()),
    },
    {
      name: "workerd, bundle, oldest date",
      runtime: "workerd",
      target: "worker",
      serve: async () => serveWorker(await workerBundle(), { date: "oldest" }),
    },
    {
      name: "lambda, bundle",
      runtime: "lambda",
      target: "lambda-stream",
      serve: async () => serveFunction(await bundle("lambda-stream")),
    },
  ];
}
