import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { type Book, type Cover, DuplicateBook, type Page, type Review, type Store } from "./store.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS book (
  id INTEGER PRIMARY KEY, title TEXT NOT NULL, author TEXT NOT NULL, year INTEGER, UNIQUE (title, author)
);
CREATE TABLE IF NOT EXISTS review (
  id INTEGER PRIMARY KEY, book INTEGER NOT NULL REFERENCES book ON DELETE CASCADE, stars INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS cover (book INTEGER PRIMARY KEY REFERENCES book ON DELETE CASCADE, type TEXT NOT NULL, bytes BLOB NOT NULL);
`;

/** SQLITE_CONSTRAINT_UNIQUE (https://sqlite.org/rescode.html). */
const UNIQUE_CONSTRAINT = 2067;

/** The bookstore in SQLite: Node, Bun and Deno have the module. */
export class SqliteStore implements Store {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec(`PRAGMA foreign_keys = ON; ${SCHEMA}`);
  }

  close(): void {
    this.#database.close();
  }

  books(author: string | undefined, page: number, size: number): Page<Book> {
    const where = author === undefined ? "" : "WHERE author = ?";
    const values = author === undefined ? [] : [author];
    const { total } = this.#one<{ total: number }>(`SELECT count(*) AS total FROM book ${where}`, ...values)!;
    const sql = `SELECT id, title, author, year FROM book ${where} ORDER BY id LIMIT ? OFFSET ?`;
    return { items: this.#all<Book>(sql, ...values, size, (page - 1) * size), page, size, total };
  }

  book(id: number): Book | undefined {
    return this.#one("SELECT id, title, author, year FROM book WHERE id = ?", id);
  }

  *allBooks(): Generator<Book> {
    const rows = this.#database.prepare("SELECT id, title, author, year FROM book ORDER BY id").iterate();
    for (const row of rows) yield row as unknown as Book;
  }

  add({ title, author, year }: Omit<Book, "id">): Book {
    const sql = "INSERT INTO book (title, author, year) VALUES (?, ?, ?)";
    const { lastInsertRowid } = this.#write({ title, author }, () =>
      this.#database.prepare(sql).run(title, author, year),
    );
    return { id: Number(lastInsertRowid), title, author, year };
  }

  change(id: number, { title, author, year }: Omit<Book, "id">): boolean {
    const sql = "UPDATE book SET title = ?, author = ?, year = ? WHERE id = ?";
    const { changes } = this.#write({ title, author }, () =>
      this.#database.prepare(sql).run(title, author, year, id),
    );
    return changes > 0;
  }

  remove(id: number): boolean {
    return this.#database.prepare("DELETE FROM book WHERE id = ?").run(id).changes > 0;
  }

  reviews(book: number): Review[] {
    return this.#all("SELECT id, stars, text FROM review WHERE book = ? ORDER BY id", book);
  }

  addReview(book: number, stars: number, text: string): Review {
    const sql = "INSERT INTO review (book, stars, text) VALUES (?, ?, ?)";
    return { id: Number(this.#database.prepare(sql).run(book, stars, text).lastInsertRowid), stars, text };
  }

  cover(book: number): Cover | undefined {
    return this.#one("SELECT type, bytes FROM cover WHERE book = ?", book);
  }

  setCover(book: number, { type, bytes }: Cover): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO cover (book, type, bytes) VALUES (?, ?, ?)")
      .run(book, type, bytes);
  }

  authors(): { author: string; books: number }[] {
    return this.#all("SELECT author, count(*) AS books FROM book GROUP BY author ORDER BY author");
  }

  /** Runs a statement that writes a title and an author, which may violate their uniqueness. */
  #write<T>({ title, author }: Pick<Book, "title" | "author">, write: () => T): T {
    try {
      return write();
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== UNIQUE_CONSTRAINT) throw error;
      throw new DuplicateBook({ title, author });
    }
  }

  #one<T>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#database.prepare(sql).get(...values) as T | undefined;
  }

  #all<T>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#database.prepare(sql).all(...values) as T[];
  }
}
