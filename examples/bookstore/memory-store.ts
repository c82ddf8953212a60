import { type Book, type Cover, DuplicateBook, type Page, type Review, type Store } from "./store.ts";

interface Shelf {
  book: Book;
  cover: Cover | undefined;
}

/** The bookstore in memory: for a worker, which has no files, and loses it when it ends. */
export class MemoryStore implements Store {
  readonly #shelves = new Map<number, Shelf>();
  readonly #reviews: (Review & { book: number })[] = [];
  #last = 0;
  #lastReview = 0;

  close(): void {
    this.#shelves.clear();
    this.#reviews.length = 0;
  }

  books(author: string | undefined, page: number, size: number): Page<Book> {
    const all = [...this.allBooks()].filter((book) => author === undefined || book.author === author);
    return { items: all.slice((page - 1) * size, page * size), page, size, total: all.length };
  }

  book(id: number): Book | undefined {
    return this.#shelves.get(id)?.book;
  }

  *allBooks(): Generator<Book> {
    for (const { book } of this.#shelves.values()) yield book;
  }

  add(book: Omit<Book, "id">): Book {
    this.#refuseDuplicate(book, undefined);
    const added = { id: ++this.#last, ...book };
    this.#shelves.set(added.id, { book: added, cover: undefined });
    return added;
  }

  change(id: number, book: Omit<Book, "id">): boolean {
    const shelf = this.#shelves.get(id);
    if (shelf === undefined) return false;
    this.#refuseDuplicate(book, id);
    shelf.book = { id, ...book };
    return true;
  }

  remove(id: number): boolean {
    return this.#shelves.delete(id);
  }

  reviews(book: number): Review[] {
    return this.#reviews.filter((each) => each.book === book).map(({ book: _, ...review }) => review);
  }

  addReview(book: number, stars: number, text: string): Review {
    const review = { id: ++this.#lastReview, stars, text };
    this.#reviews.push({ ...review, book });
    return review;
  }

  cover(book: number): Cover | undefined {
    return this.#shelves.get(book)?.cover;
  }

  setCover(book: number, cover: Cover): void {
    const shelf = this.#shelves.get(book);
    if (shelf !== undefined) shelf.cover = cover;
  }

  authors(): { author: string; books: number }[] {
    const counts = new Map<string, number>();
    for (const { author } of this.allBooks()) counts.set(author, (counts.get(author) ?? 0) + 1);
    return [...counts]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([author, books]) => ({ author, books }));
  }

  #refuseDuplicate(book: Omit<Book, "id">, id: number | undefined): void {
    for (const other of this.allBooks())
      if (other.id !== id && other.title === book.title && other.author === book.author)
        throw new DuplicateBook(book);
  }
}
