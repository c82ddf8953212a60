/** A process of `waymark build`: loads a bundle as the platform does. Prints what fails, exit 1. */
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const [file = "", target = "", hasNode = ""] = process.argv.slice(2);
const APPLICATION = Symbol.for("@tollway/waymark.application");
const { exit, stderr } = process;

/** The modules of Cloudflare, with the exports that a worker can name. They do nothing while a module loads. */
const CLOUDFLARE = `
export class DurableObject {} export class WorkerEntrypoint {} export class WorkflowEntrypoint {} export class RpcTarget {}
export class RpcStub {} export class EmailMessage {} export const env = {}; export const exports = {};
export const waitUntil = () => {}; export const connect = () => {}; export const withEnv = () => {};
export default {};`;

registerHooks({
  resolve: (specifier, context, next) =>
    /^(?:cloudflare|workerd):/.test(specifier)
      ? { url: `data:text/javascript,${encodeURIComponent(CLOUDFLARE)}`, shortCircuit: true }
      : next(specifier, context),
});

/** Globals that Node has and a worker lacks. */
const NODE_ONLY = ["process", "Buffer", "global", "setImmediate", "clearImmediate"];
/** Functions that a worker may call only while it answers a request. */
const WHILE_ANSWERING = ["fetch", "setTimeout", "setInterval"];

/** One of each module. */
const LAZY = ["Headers", "CompressionStream"];

function limitToWorker(): () => void {
  const globals = globalThis as unknown as Record<string, unknown>;
  // Node loads the web's objects when they are first named, and their modules need the global `Buffer`.
  for (const name of LAZY) void globals[name];
  if (hasNode !== "true") for (const name of NODE_ONLY) delete globals[name];
  const kept = WHILE_ANSWERING.map((name) => [name, globals[name]] as const);
  for (const name of WHILE_ANSWERING)
    globals[name] = () => {
      throw new Error(
        `a worker may call ${name}() only while it answers a request, not while its module loads`,
      );
    };
  return () => {
    for (const [name, value] of kept) globals[name] = value;
  };
}

/** Lambda's runtime provides it to functions that stream. */
function addStreaming(): void {
  const awslambda = { streamifyResponse: (handler: unknown) => handler };
  Object.assign(globalThis, { awslambda });
}

function applicationOf(module: Record<string, unknown>): { load(): Promise<unknown> } {
  const served = target === "worker" ? module.default : module.handler;
  const found = (served as Record<symbol, unknown> | undefined)?.[APPLICATION];
  if (found === undefined) throw new Error("the module does not export the application");
  return found as { load(): Promise<unknown> };
}

try {
  if (target === "lambda-stream") addStreaming();
  const release = target === "worker" ? limitToWorker() : () => undefined;
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  release();
  await applicationOf(module).load();
  exit(0);
} catch (error) {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  stderr.write(`${text.split("\n").slice(0, 4).join("\n")}\n`, () => exit(1));
}
