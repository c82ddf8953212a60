export interface User {
  id: number;
  name: string;
}

export type Status = "open" | "doing" | "done";

/** The fields of an issue that users set. */
export interface Draft {
  title: string;
  text: string;
  status: Status;
  labels: string[];
  /** The id of a user. */
  assignee: number | null;
}

export interface Issue extends Omit<Draft, "assignee"> {
  id: number;
  assignee: User | null;
  author: User;
  /** Grows with every change: the ETag. */
  version: number;
  /** @format date-time */
  created: string;
  /** @format date-time */
  changed: string;
}

export interface Comment {
  id: number;
  author: User;
  text: string;
  /** @format date-time */
  created: string;
}

export interface Attachment {
  id: number;
  author: User;
  name: string;
  type: string;
  /** In bytes. */
  size: number;
  /** @format date-time */
  created: string;
}

/** Something that happened on the board. */
export type Change =
  | { kind: "issue"; issue: Issue; by: User }
  | { kind: "comment"; on: number; comment: Comment }
  | { kind: "attachment"; on: number; attachment: Attachment };

export interface NumberedChange {
  id: number;
  change: Change;
}

export interface Filter {
  status?: Status | undefined;
  label?: string | undefined;
  /** The id of a user. */
  assignee?: number | undefined;
  /** A part of the title. */
  q?: string | undefined;
  /** Only issues with a smaller id: the last one of the page before. */
  before?: number | undefined;
  limit: number;
}

/** Who sends an attachment, and what it is. */
export interface Upload {
  issue: number;
  author: User;
  name: string;
  type: string;
}

/** An attachment that arrives. Nobody sees it before it is finished. */
export interface AttachmentWriter {
  write(piece: Uint8Array<ArrayBuffer>): void;
  finish(): Attachment;
  /** Removes what has arrived. */
  abandon(): void;
}

/** The largest numbers of what a store keeps. */
export const LIMITS = {
  users: 10_000,
  issues: 100_000,
  /** Of one issue. */
  comments: 1_000,
  attachments: 20,
  /** Of the whole board. The oldest make room. */
  changes: 1_000,
} as const;

/** The board has no room for another of these. */
export class BoardFull extends Error {
  readonly code = "BOARD_FULL";

  constructor(what: Exclude<keyof typeof LIMITS, "changes">) {
    super(`there is room for ${LIMITS[what]} ${what}`);
  }
}

/** The database, as the controllers need it. Ids grow. @throws {BoardFull} in each method that adds something */
export interface Store {
  /** Undefined if somebody has the name, in small or capital letters. */
  addUser(name: string, password: string): User | undefined;
  user(id: number): User | undefined;
  users(): User[];
  /** A user with the hash of the password. */
  login(name: string): { user: User; password: string } | undefined;

  /** The newest first. */
  issues(filter: Filter): Issue[];
  issue(id: number): Issue | undefined;
  addIssue(draft: Draft, author: User): Issue;
  /** Undefined if the issue no longer has this version. */
  changeIssue(id: number, version: number, changes: Partial<Draft>): Issue | undefined;

  comments(issue: number): Comment[];
  addComment(issue: number, author: User, text: string): Comment;

  attachments(issue: number): Attachment[];
  attachment(id: number): Attachment | undefined;
  openAttachment(upload: Upload): AttachmentWriter;
  /** The content of an attachment, piece by piece. */
  pieces(attachment: number): Generator<Uint8Array<ArrayBuffer>>;

  addChange(change: Change): void;
  /** The oldest first. */
  changesAfter(id: number, limit: number): NumberedChange[];
  /** The ids of the oldest and the newest change. Both are 0 without any. */
  changeIds(): { oldest: number; newest: number };

  close(): void;
}
