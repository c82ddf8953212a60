import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import {
  type Attachment,
  type AttachmentWriter,
  BoardFull,
  type Change,
  type Comment,
  type Draft,
  type Filter,
  type Issue,
  LIMITS,
  type NumberedChange,
  type Status,
  type Store,
  type Upload,
  type User,
} from "./store.ts";

const SCHEMA = `
PRAGMA busy_timeout = 5000;
PRAGMA foreign_keys = ON;
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS user (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, password TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS issue (
  id INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL, status TEXT NOT NULL, labels TEXT NOT NULL,
  assignee INTEGER REFERENCES user, author INTEGER NOT NULL REFERENCES user,
  version INTEGER NOT NULL, created TEXT NOT NULL, changed TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS comment (
  id INTEGER PRIMARY KEY, issue INTEGER NOT NULL REFERENCES issue, author INTEGER NOT NULL REFERENCES user,
  text TEXT NOT NULL, created TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS comment_issue ON comment (issue);
CREATE TABLE IF NOT EXISTS attachment (
  id INTEGER PRIMARY KEY, issue INTEGER NOT NULL REFERENCES issue, author INTEGER NOT NULL REFERENCES user,
  name TEXT NOT NULL, type TEXT NOT NULL, size INTEGER, created TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS attachment_issue ON attachment (issue);
CREATE TABLE IF NOT EXISTS piece (
  attachment INTEGER NOT NULL REFERENCES attachment ON DELETE CASCADE, at INTEGER NOT NULL, bytes BLOB NOT NULL,
  PRIMARY KEY (attachment, at)
);
CREATE TABLE IF NOT EXISTS change (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL);
`;

/** SQLITE_CONSTRAINT_UNIQUE (https://sqlite.org/rescode.html). */
const UNIQUE_CONSTRAINT = 2067;

/** An upload that is not complete by then never will be: its process has ended. */
const LONGEST_UPLOAD = 60 * 60 * 1000;

const ISSUES = `
SELECT issue.*, author.name AS author_name, assignee.name AS assignee_name
FROM issue JOIN user AS author ON author.id = issue.author LEFT JOIN user AS assignee ON assignee.id = issue.assignee`;

const ATTACHMENTS = `
SELECT attachment.*, user.name AS author_name FROM attachment JOIN user ON user.id = attachment.author`;

type Row = Record<string, SQLInputValue>;

/** The board in a file of SQLite: Node, Bun and Deno have the module. Several processes can share the file. */
export class SqliteStore implements Store {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec(SCHEMA);
    const latest = new Date(Date.now() - LONGEST_UPLOAD).toISOString();
    this.#run("DELETE FROM attachment WHERE size IS NULL AND created < ?", latest);
  }

  addUser(name: string, password: string): User | undefined {
    this.#makeRoom("users", "user");
    try {
      return { id: this.#run("INSERT INTO user (name, password) VALUES (?, ?)", name, password), name };
    } catch (error) {
      if ((error as { errcode?: number }).errcode === UNIQUE_CONSTRAINT) return undefined;
      throw error;
    }
  }

  user(id: number): User | undefined {
    return this.#one<User>("SELECT id, name FROM user WHERE id = ?", id);
  }

  users(): User[] {
    return this.#all<User>("SELECT id, name FROM user ORDER BY id");
  }

  login(name: string): { user: User; password: string } | undefined {
    const row = this.#one<User & { password: string }>("SELECT * FROM user WHERE name = ?", name);
    return row && { user: { id: row.id, name: row.name }, password: row.password };
  }

  issues({ status, label, assignee, q, before, limit }: Filter): Issue[] {
    const conditions: string[] = [];
    const values: SQLInputValue[] = [];
    const add = (condition: string, value: SQLInputValue | undefined) => {
      if (value === undefined) return;
      conditions.push(condition);
      values.push(value);
    };
    add("issue.status = ?", status);
    add("EXISTS (SELECT 1 FROM json_each(issue.labels) WHERE value = ?)", label);
    add("issue.assignee = ?", assignee);
    add("instr(lower(issue.title), lower(?)) > 0", q);
    add("issue.id < ?", before);
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    return this.#all(`${ISSUES} ${where} ORDER BY issue.id DESC LIMIT ?`, ...values, limit).map(issueOf);
  }

  issue(id: number): Issue | undefined {
    const row = this.#one<Row>(`${ISSUES} WHERE issue.id = ?`, id);
    return row && issueOf(row);
  }

  addIssue({ title, text, status, labels, assignee }: Draft, author: User): Issue {
    this.#makeRoom("issues", "issue");
    const sql = `INSERT INTO issue (title, text, status, labels, assignee, author, version, created, changed)
      VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?)`;
    const now = new Date().toISOString();
    const id = this.#run(sql, title, text, status, JSON.stringify(labels), assignee, author.id, now, now);
    return this.issue(id)!;
  }

  changeIssue(id: number, version: number, changes: Partial<Draft>): Issue | undefined {
    const { title, text, status, labels, assignee } = changes;
    // One statement, so that no other process can change the issue in between.
    const sql = `UPDATE issue SET title = ifnull(?, title), text = ifnull(?, text), status = ifnull(?, status),
      labels = ifnull(?, labels), assignee = iif(?, ?, assignee), version = version + 1, changed = ?
      WHERE id = ? AND version = ?`;
    const values = [
      title ?? null,
      text ?? null,
      status ?? null,
      labels === undefined ? null : JSON.stringify(labels),
      assignee === undefined ? 0 : 1,
      assignee ?? null,
      new Date().toISOString(),
    ];
    const { changes: count } = this.#database.prepare(sql).run(...values, id, version);
    return count === 0 ? undefined : this.issue(id);
  }

  comments(issue: number): Comment[] {
    const sql = `SELECT comment.*, user.name AS author_name FROM comment JOIN user ON user.id = comment.author
      WHERE issue = ? ORDER BY comment.id`;
    return this.#all(sql, issue).map(
      ({ id, author, author_name, text, created }) =>
        ({ id, author: { id: author, name: author_name }, text, created }) as unknown as Comment,
    );
  }

  addComment(issue: number, author: User, text: string): Comment {
    this.#makeRoom("comments", "comment", issue);
    const created = new Date().toISOString();
    const sql = "INSERT INTO comment (issue, author, text, created) VALUES (?, ?, ?, ?)";
    return { id: this.#run(sql, issue, author.id, text, created), author, text, created };
  }

  attachments(issue: number): Attachment[] {
    const sql = `${ATTACHMENTS} WHERE issue = ? AND size IS NOT NULL ORDER BY attachment.id`;
    return this.#all(sql, issue).map(attachmentOf);
  }

  attachment(id: number): Attachment | undefined {
    const row = this.#one<Row>(`${ATTACHMENTS} WHERE attachment.id = ? AND size IS NOT NULL`, id);
    return row && attachmentOf(row);
  }

  openAttachment({ issue, author, name, type }: Upload): AttachmentWriter {
    this.#makeRoom("attachments", "attachment", issue);
    const sql = "INSERT INTO attachment (issue, author, name, type, created) VALUES (?, ?, ?, ?, ?)";
    const id = this.#run(sql, issue, author.id, name, type, new Date().toISOString());
    let at = 0;
    let size = 0;
    return {
      write: (piece) => {
        this.#run("INSERT INTO piece (attachment, at, bytes) VALUES (?, ?, ?)", id, at++, piece);
        size += piece.length;
      },
      finish: () => {
        this.#run("UPDATE attachment SET size = ? WHERE id = ?", size, id);
        return this.attachment(id)!;
      },
      abandon: () => void this.#run("DELETE FROM attachment WHERE id = ?", id),
    };
  }

  *pieces(attachment: number): Generator<Uint8Array<ArrayBuffer>> {
    // One query for each piece: a client that reads slowly holds no statement open.
    for (let at = 0; ; at++) {
      const sql = "SELECT bytes FROM piece WHERE attachment = ? AND at = ?";
      const row = this.#one<{ bytes: Uint8Array<ArrayBuffer> }>(sql, attachment, at);
      if (row === undefined) return;
      yield row.bytes;
    }
  }

  addChange(change: Change): void {
    const id = this.#run("INSERT INTO change (content) VALUES (?)", JSON.stringify(change));
    this.#run("DELETE FROM change WHERE id <= ?", id - LIMITS.changes);
  }

  changesAfter(id: number, limit: number): NumberedChange[] {
    const sql = "SELECT id, content FROM change WHERE id > ? ORDER BY id LIMIT ?";
    return this.#all(sql, id, limit).map(({ id: own, content }) => ({
      id: Number(own),
      change: JSON.parse(String(content)) as Change,
    }));
  }

  changeIds(): { oldest: number; newest: number } {
    const row = this.#one<{ oldest: number | null; newest: number | null }>(
      "SELECT (SELECT min(id) FROM change) AS oldest, (SELECT max(id) FROM change) AS newest",
    );
    return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 };
  }

  close(): void {
    this.#database.close();
  }

  #makeRoom(
    what: Exclude<keyof typeof LIMITS, "changes">,
    table: "user" | "issue" | "comment" | "attachment",
    issue?: number,
  ): void {
    const where = issue === undefined ? "" : "WHERE issue = ?";
    const values = issue === undefined ? [] : [issue];
    const { count } = this.#one<{ count: number }>(
      `SELECT count(*) AS count FROM ${table} ${where}`,
      ...values,
    )!;
    if (count >= LIMITS[what]) throw new BoardFull(what);
  }

  /** @returns the id of an added row */
  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#database.prepare(sql).run(...values).lastInsertRowid);
  }

  #one<T>(sql: string, ...values: SQLInputValue[]): T | undefined {
    // Bun has null for no row.
    return (this.#database.prepare(sql).get(...values) ?? undefined) as T | undefined;
  }

  #all<T = Row>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#database.prepare(sql).all(...values) as T[];
  }
}

function issueOf(row: Row): Issue {
  return {
    id: Number(row.id),
    title: String(row.title),
    text: String(row.text),
    status: row.status as Status,
    labels: JSON.parse(String(row.labels)) as string[],
    assignee: row.assignee === null ? null : { id: Number(row.assignee), name: String(row.assignee_name) },
    author: { id: Number(row.author), name: String(row.author_name) },
    version: Number(row.version),
    created: String(row.created),
    changed: String(row.changed),
  };
}

function attachmentOf(row: Row): Attachment {
  return {
    id: Number(row.id),
    author: { id: Number(row.author), name: String(row.author_name) },
    name: String(row.name),
    type: String(row.type),
    size: Number(row.size),
    created: String(row.created),
  };
}
