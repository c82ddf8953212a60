export interface Book {
  id: number;
  title: string;
  author: string;
  year: number | null;
}

export interface Review {
  id: number;
  stars: number;
  text: string;
}

export interface Page<T> {
  items: T[];
  page: number;
  size: number;
  total: number;
}

export interface Cover {
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The store already has a book with this title and author. */
export class DuplicateBook extends Error {
  readonly code = "DUPLICATE_BOOK";

  constructor({ title, author }: Pick<Book, "title" | "author">) {
    super(`${title} by ${author} already exists`);
  }
}

/** The database, as the controllers need it. */
export interface Store {
  books(author: string | undefined, page: number, size: number): Page<Book>;
  book(id: number): Book | undefined;
  /** Returns one book after the other, without loading all of them. */
  allBooks(): Iterable<Book>;
  /** @throws DuplicateBook */
  add(book: Omit<Book, "id">): Book;
  /**
   * False if there is no such book.
   * @throws DuplicateBook
   */
  change(id: number, book: Omit<Book, "id">): boolean;
  /** False if there is no such book. */
  remove(id: number): boolean;
  reviews(book: number): Review[];
  addReview(book: number, stars: number, text: string): Review;
  cover(book: number): Cover | undefined;
  setCover(book: number, cover: Cover): void;
  authors(): { author: string; books: number }[];
  close(): void;
}
