import { Controller, HttpError, type Problem, problem } from "@tollway/waymark";
import { services } from "../services.ts";
import type { Book, Page, Review } from "../store.ts";
import { Protected } from "./_protected.ts";

/**
 * The number of a book.
 * @integer @minimum 1
 */
type Id = number;

interface NewBook {
  /** @minLength 1 @maxLength 200 */
  title: string;
  /** @minLength 1 @maxLength 200 */
  author: string;
  /** @integer @minimum 1450 @maximum 2100 */
  year?: number | null;
}

interface Paging {
  /** Only books by this author. */
  author?: string;
  /** @integer @minimum 1 @maximum 1000000 */
  page?: number;
  /** @integer @minimum 1 @maximum 100 */
  size?: number;
}

type NoBook = Problem<404, { code: "NO_BOOK" }>;

function noBook(id: Id): NoBook {
  return problem(404, `there is no book ${id}`, { code: "NO_BOOK" });
}

function found(id: Id): Book {
  const book = services.store.book(id);
  if (book === undefined) throw noBook(id);
  return book;
}

/** `/books` and `/books/{id}` */
export class Default extends Protected {
  /** One book, or a page of the list. */
  GET(id?: Id, { author, page = 1, size = 20 }: Paging = {}): Book | Page<Book> | NoBook {
    if (id !== undefined) return services.store.book(id) ?? noBook(id);
    const list = services.store.books(author, page, size);
    if (page * size < list.total) {
      const next = new URL(this.request.url);
      next.searchParams.set("page", String(page + 1));
      this.response.headers.set("link", `<${next.pathname}${next.search}>; rel="next"`);
    }
    return list;
  }

  POST({ title, author, year = null }: NewBook): Book {
    const book = services.store.add({ title, author, year });
    this.response.status = 201;
    this.response.headers.set("location", `/books/${book.id}`);
    return book;
  }

  PUT(id: Id, { title, author, year = null }: NewBook): Book | NoBook {
    if (!services.store.change(id, { title, author, year })) return noBook(id);
    return found(id);
  }

  DELETE(id: Id): void {
    if (!services.store.remove(id)) found(id);
  }
}

/** `/books/reviews/{book}` */
export class Reviews extends Protected {
  GET(book: Id): Review[] {
    return services.store.reviews(found(book).id);
  }

  POST(book: Id, { stars, text = "" }: NewReview): Review {
    this.response.status = 201;
    return services.store.addReview(found(book).id, stars, text);
  }
}

interface NewReview {
  /** @integer @minimum 1 @maximum 5 */
  stars: number;
  /** @maxLength 2000 */
  text?: string;
}

const IMAGES = new Set(["image/png", "image/jpeg", "image/webp"]);

/** `/books/covers/{book}` */
export class Covers extends Protected {
  GET(book: Id): Blob {
    const cover = services.store.cover(found(book).id);
    if (cover === undefined) throw new HttpError(404, `book ${book} has no cover`);
    return new Blob([cover.bytes], { type: cover.type });
  }

  async PUT(book: Id, { file }: { file: File }): Promise<void> {
    found(book);
    if (!IMAGES.has(file.type)) throw new HttpError(415, `a cover must be one of ${[...IMAGES].join(", ")}`);
    services.store.setCover(book, { type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) });
  }
}

/** `/books/export` */
export class Export extends Controller {
  /** Every book, as one JSON line each, or as one event each if the client accepts events. */
  async *GET(): AsyncGenerator<Book> {
    yield* services.store.allBooks();
  }
}
