/** `@tollway/waymark/kit/files`: files of the disk with types, ranges and ETags. For Node, Bun and Deno. */
import { open, realpath } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { CALL, type Controller } from "../controller/controller.ts";
import { HttpError } from "../http/http-error.ts";
import { attachment } from "./attachment.ts";
import { type CacheDirectives, cacheControl } from "./cache-control.ts";
import { lists } from "./conditional.ts";
import { typeOf } from "./media-types.ts";
import { rangeOf } from "./ranges.ts";

/** Options of {@link file}. */
export interface FileOptions {
  /** `cache-control` of the answer. Default `no-cache`: the client asks each time, and gets a 304. */
  readonly cache?: CacheDirectives;
  /** Default: by the name's extension. */
  readonly type?: string;
  /** Lets the browser save the file under this name instead of showing it. */
  readonly download?: string;
}

/** Options of {@link folder}. */
export interface StaticOptions extends Omit<FileOptions, "type" | "download"> {
  /** The file for a folder. Default `index.html`. False: a folder is a 404. */
  readonly index?: string | false;
  /** Serves names that begin with a dot, such as `.well-known`. Default false. */
  readonly dotFiles?: boolean;
  /** Answers paths without a file with this one: `index.html` of a single-page application. Default: 404. */
  readonly fallback?: string;
  /** Further types by extension: `{ ".glb": "model/gltf-binary" }`. */
  readonly types?: Readonly<Record<string, string>>;
}

/**
 * Answers with a file. The path is the program's, never the client's: use {@link folder} for paths of clients.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { file } from "@tollway/waymark/kit/files";
 *
 * export class Report extends Controller {
 *   GET() { return file(this, "reports/today.pdf", { download: "report.pdf" }); }
 * }
 * ```
 */
export async function file(
  controller: Controller,
  path: string,
  options: FileOptions = {},
): Promise<Response> {
  const handle = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw ABSENT.has(error.code ?? "") ? notFound(error) : error;
  });
  let isSent = false;
  try {
    const stat = await handle.stat({ bigint: true });
    if (!stat.isFile()) throw notFound();
    const size = Number(stat.size);
    const modified = new Date(Number(stat.mtimeMs));
    const tag = `"${stat.size.toString(36)}-${stat.mtimeNs.toString(36)}"`;
    const headers = new Headers({
      etag: tag,
      "last-modified": modified.toUTCString(),
      "accept-ranges": "bytes",
      "cache-control": cacheControl(options.cache ?? { noCache: true }),
    });
    const request = controller.headers;
    if (isCurrent(request, tag, modified)) return new Response(null, { status: 304, headers });
    headers.set("content-type", options.type ?? typeOf(path));
    headers.set("x-content-type-options", "nosniff");
    if (options.download !== undefined) headers.set("content-disposition", attachment(options.download));
    const isWhole = request.get("range") === null || !mayContinue(request.get("if-range"), tag, modified);
    const range = isWhole || controller.method !== "GET" ? undefined : rangeOf(request.get("range")!, size);
    if (range === "unsatisfiable")
      throw new HttpError(416, `the file has ${size} bytes`, {
        headers: { "content-range": `bytes */${size}` },
      });
    const { start, end } = range ?? { start: 0, end: size - 1 };
    headers.set("content-length", String(end - start + 1));
    if (range !== undefined) headers.set("content-range", `bytes ${start}-${end}/${size}`);
    const status = range === undefined ? 200 : 206;
    if (controller.method === "HEAD" || size === 0) return new Response(null, { status, headers });
    const stream = handle.createReadStream({ start, end, highWaterMark: 64 * 1024 });
    isSent = true;
    return new Response(ReadableStream.from(stream) as never, { status, headers });
  } finally {
    if (!isSent) await handle.close();
  }
}

/** The errors of a path without a file. */
const ABSENT = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "EISDIR", "ELOOP"]);

function notFound(cause?: unknown): HttpError {
  return new HttpError(404, "there is no such file", { cause });
}

/** RFC 9110 section 13.2.2: the date counts only without an ETag. */
function isCurrent(request: Controller["headers"], tag: string, modified: Date): boolean {
  const tags = request.get("if-none-match");
  if (tags !== null) return lists(tags, tag, false);
  const since = Date.parse(request.get("if-modified-since") ?? "");
  return Math.floor(modified.getTime() / 1000) * 1000 <= since;
}

/** Whether the client's part is of the same file (RFC 9110 section 13.1.5): a strong tag, or the exact date. */
function mayContinue(condition: string | null, tag: string, modified: Date): boolean {
  return condition === null || condition === tag || condition === modified.toUTCString();
}

/**
 * Serves the files of a folder: `GET(...path: string[]) { return assets(this, path); }`. No path leads out of the folder,
 * not even through a symbolic link.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { folder } from "@tollway/waymark/kit/files";
 *
 * const assets = folder("public", { cache: { maxAge: 60 } });
 *
 * export class Assets extends Controller {
 *   GET(...path: string[]) { return assets(this, path); }
 * }
 * ```
 */
export function folder(
  root: string,
  options: StaticOptions = {},
): (controller: Controller, path: readonly string[]) => Promise<Response> {
  const { index = "index.html", dotFiles = false, fallback, types = {}, cache } = options;
  const base = resolve(root);
  let top: string | undefined;
  const inside = async (path: string): Promise<string | undefined> => {
    // Requests do not share the promise: a rejection would fail every later request, and might have no handler in time.
    top ??= await realpath(base);
    const found = await realpath(path).catch(() => undefined);
    return found === top || found?.startsWith(top.endsWith(sep) ? top : top + sep) === true
      ? found
      : undefined;
  };
  const send = (controller: Controller, path: string) => {
    const extension = /\.[^./\\]*$/.exec(path)?.[0].toLowerCase() ?? "";
    return file(controller, path, { type: types[extension] ?? typeOf(path), ...(cache && { cache }) });
  };
  return async (controller, segments) => {
    const path = segments.every((each) => isName(each, dotFiles))
      ? await inside(join(base, ...segments))
      : undefined;
    if (path !== undefined) {
      const found = await sendOrNothing(send(controller, path));
      if (found !== undefined) return found;
      const isPage = index !== false && endsWithSlash(controller);
      const page = isPage ? await inside(join(path, index)) : undefined;
      const shown = page && (await sendOrNothing(send(controller, page)));
      if (shown) return shown;
      // Relative links of a page need the slash. A path that starts with two slashes would name another host.
      if (index !== false && !isPage && (await inside(join(path, index))) !== undefined)
        return controller.redirect(`/${pathOf(controller).replace(/^\/+/, "")}/`, 308);
    }
    if (fallback === undefined) throw notFound();
    return send(controller, join(base, fallback));
  };
}

async function sendOrNothing(sending: Promise<Response>): Promise<Response | undefined> {
  try {
    return await sending;
  } catch (error) {
    if (HttpError.is(error) && error.status === 404) return undefined;
    throw error;
  }
}

/** False for everything but the name of an entry of a folder. */
function isName(segment: string, dotFiles: boolean): boolean {
  if (segment === "" || segment === "." || segment === "..") return false;
  if (/[\0/\\]/.test(segment) || segment.includes(sep)) return false;
  // On Windows, a colon names a drive or a stream of the file.
  if (sep === "\\" && /[:<>"|?*]|[. ]$/.test(segment)) return false;
  return dotFiles || !segment.startsWith(".");
}

function pathOf(controller: Controller): string {
  return controller[CALL].incoming.target.split("?")[0]!;
}

function endsWithSlash(controller: Controller): boolean {
  return pathOf(controller).endsWith("/");
}
