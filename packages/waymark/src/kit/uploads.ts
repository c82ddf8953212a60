/** `@tollway/waymark/kit/uploads`: the parts of a form while they arrive. For Node, Bun and Deno. */
import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import { CALL, type Controller } from "../controller/controller.ts";
import { mediaType } from "../http/body-kind.ts";
import { boundaryOf, malformed } from "../http/form.ts";
import { HttpError } from "../http/http-error.ts";

/** Limits of a form that {@link uploads} reads. */
export interface UploadLimits {
  /** Bytes of one file: 413 beyond. Default: the class's `bodyLimit` bounds the whole body. */
  readonly fileSize?: number;
  /** Bytes of one field. Default 1 MiB. */
  readonly fieldSize?: number;
  /** Number of parts. Default 1,000. */
  readonly parts?: number;
}

/** A field of a form. */
export interface FieldPart {
  /** Tells a field from a file. */
  readonly kind: "field";
  /** The name of the field. */
  readonly name: string;
  /** The value of the field, as UTF-8 text. */
  readonly value: string;
}

/** A file of a form. Read it before the next part: what is unread then is skipped. */
export interface FilePart {
  /** Tells a file from a field. */
  readonly kind: "file";
  /** The name of the field that carries the file. */
  readonly name: string;
  /** The name that the client sent. Never use it as a path. */
  readonly filename: string;
  /** The media type that the client states. */
  readonly type: string;
  /** The content as it arrives, at the reader's pace. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** A part of a form. `kind` tells the two apart. */
export type UploadPart = FieldPart | FilePart;

/**
 * The parts of a `multipart/form-data` body, in the order of the form. For a method without parameters, or of a class with
 * `static rawBody = true`.
 * @example
 * ```ts
 * import { createWriteStream } from "node:fs";
 * import { pipeline } from "node:stream/promises";
 * import { Controller } from "@tollway/waymark";
 * import { uploads } from "@tollway/waymark/kit/uploads";
 *
 * export class Albums extends Controller {
 *   static override bodyLimit = 1024 ** 3;
 *
 *   async POST() {
 *     let count = 0;
 *     for await (const part of uploads(this, { fileSize: 100 * 1024 ** 2 }))
 *       if (part.kind === "file") await pipeline(part.content, createWriteStream(`/srv/albums/${count++}`));
 *     return { count };
 *   }
 * }
 * ```
 */
export async function* uploads(
  controller: Controller,
  limits: UploadLimits = {},
): AsyncGenerator<UploadPart> {
  const type = controller.headers.get("content-type") ?? "";
  if (mediaType(type) !== "multipart/form-data")
    throw new HttpError(415, "the body must be multipart/form-data", {
      headers: { accept: "multipart/form-data" },
    });
  boundaryOf(type);
  const form = new Form(type, limits);
  const pump = form.read(controller[CALL].stream());
  try {
    for (let part = await form.next(); part !== undefined; part = await form.next()) {
      yield part.shown;
      part.file?.resume();
    }
    await pump;
  } finally {
    form.stop();
  }
}

interface Queued {
  readonly shown: UploadPart;
  readonly file?: Readable;
}

/** A form that is being parsed. The parser waits for the reader of each file. */
class Form {
  readonly #parser: InstanceType<typeof Busboy>;
  readonly #queue: Queued[] = [];
  #open: Readable | undefined = undefined;
  #error: unknown = undefined;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(contentType: string, { fileSize, fieldSize = 1024 * 1024, parts = 1_000 }: UploadLimits) {
    this.#parser = new Busboy({
      headers: { "content-type": contentType },
      limits: {
        parts,
        fieldSize,
        headerPairs: 100,
        fieldNameSize: 1_000,
        ...(fileSize !== undefined && { fileSize }),
      },
    });
    this.#parser.on(
      "field",
      (name: string | undefined, value: string, _isCut: boolean, isTooLong: boolean) => {
        if (isTooLong) this.#fail(new HttpError(413, `the field ${name} is larger than ${fieldSize} bytes`));
        else if (name === undefined) this.#fail(malformed("a part has no name"));
        else this.#add({ shown: { kind: "field", name, value } });
      },
    );
    this.#parser.on(
      "file",
      (name: string | undefined, file, filename: string | undefined, _encoding, type) => {
        this.#open = file;
        file.once("limit", () =>
          this.#fail(new HttpError(413, `the file ${name} is larger than ${fileSize} bytes`)),
        );
        file.on("error", (error: Error) => this.#fail(malformed(error.message)));
        if (name === undefined) return this.#fail(malformed("a part has no name"));
        const content = this.#contentOf(file);
        this.#add({
          shown: { kind: "file", name, filename: filename ?? "", type: type ?? "", content },
          file,
        });
      },
    );
    this.#parser.on("partsLimit", () => this.#fail(malformed(`more than ${parts} parts`)));
    this.#parser.on("error", (error) =>
      this.#fail(malformed(error instanceof Error ? error.message : String(error))),
    );
    this.#parser.on("finish", () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** Passes the body to the parser, at the pace of the readers. Never rejects. */
  async read(body: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const piece of body) {
        if (this.#error !== undefined) return;
        await new Promise<void>((resolve) => {
          this.#wait = resolve;
          this.#parser.write(piece, () => resolve());
        });
      }
      if (this.#error === undefined) this.#parser.end();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends a pending write. */
  #wait: () => void = () => undefined;

  async next(): Promise<Queued | undefined> {
    for (;;) {
      if (this.#error !== undefined) throw this.#error;
      const part = this.#queue.shift();
      if (part !== undefined) return part;
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Releases everything. The rest of the body stays unread. */
  stop(): void {
    this.#error ??= new Error("the form is no longer read");
    this.#open?.destroy();
    this.#wait();
  }

  async *#contentOf(file: Readable): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of file) yield piece as Uint8Array;
    } catch (error) {
      throw this.#error ?? error;
    }
    // The parser ends a file that is too large like any other.
    if (this.#error !== undefined) throw this.#error;
  }

  #add(part: Queued): void {
    this.#queue.push(part);
    this.#wake();
  }

  #fail(error: unknown): void {
    this.#error ??= error;
    this.#open?.destroy(error instanceof Error ? error : undefined);
    this.#wait();
    this.#wake();
  }
}
