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
  type Store,
  type Upload,
  type User,
} from "./store.ts";

interface Login {
  user: User;
  password: string;
}

/** An issue with everything that belongs to it. */
interface Card {
  issue: Issue;
  comments: Comment[];
  attachments: Attachment[];
  /** Attachments that still arrive. */
  arriving: number;
}

/** The board in memory: for tests, and for a worker, which loses it when it ends. */
export class MemoryStore implements Store {
  readonly #logins = new Map<number, Login>();
  readonly #cards = new Map<number, Card>();
  readonly #attachments = new Map<number, { attachment: Attachment; pieces: Uint8Array<ArrayBuffer>[] }>();
  readonly #changes: NumberedChange[] = [];
  #last = 0;

  addUser(name: string, password: string): User | undefined {
    if (this.login(name) !== undefined) return undefined;
    if (this.#logins.size >= LIMITS.users) throw new BoardFull("users");
    const user = { id: ++this.#last, name };
    this.#logins.set(user.id, { user, password });
    return user;
  }

  user(id: number): User | undefined {
    return this.#logins.get(id)?.user;
  }

  users(): User[] {
    return [...this.#logins.values()].map(({ user }) => user);
  }

  login(name: string): Login | undefined {
    return this.#logins.values().find(({ user }) => user.name.toLowerCase() === name.toLowerCase());
  }

  issues({ status, label, assignee, q = "", before = Number.POSITIVE_INFINITY, limit }: Filter): Issue[] {
    const part = q.toLowerCase();
    const found: Issue[] = [];
    for (const { issue } of [...this.#cards.values()].reverse()) {
      if (found.length === limit) break;
      if (issue.id >= before || !issue.title.toLowerCase().includes(part)) continue;
      if (status !== undefined && issue.status !== status) continue;
      if (label !== undefined && !issue.labels.includes(label)) continue;
      if (assignee !== undefined && issue.assignee?.id !== assignee) continue;
      found.push(issue);
    }
    return found;
  }

  issue(id: number): Issue | undefined {
    return this.#cards.get(id)?.issue;
  }

  addIssue({ assignee, ...draft }: Draft, author: User): Issue {
    if (this.#cards.size >= LIMITS.issues) throw new BoardFull("issues");
    const created = new Date().toISOString();
    const issue: Issue = {
      ...draft,
      id: ++this.#last,
      assignee: this.#assignee(assignee),
      author,
      version: 1,
      created,
      changed: created,
    };
    this.#cards.set(issue.id, { issue, comments: [], attachments: [], arriving: 0 });
    return issue;
  }

  changeIssue(id: number, version: number, { assignee, ...changes }: Partial<Draft>): Issue | undefined {
    const card = this.#card(id);
    if (card.issue.version !== version) return undefined;
    card.issue = {
      ...card.issue,
      ...changes,
      ...(assignee !== undefined && { assignee: this.#assignee(assignee) }),
      version: version + 1,
      changed: new Date().toISOString(),
    };
    return card.issue;
  }

  comments(issue: number): Comment[] {
    return this.#card(issue).comments;
  }

  addComment(issue: number, author: User, text: string): Comment {
    const { comments } = this.#card(issue);
    if (comments.length >= LIMITS.comments) throw new BoardFull("comments");
    const comment = { id: ++this.#last, author, text, created: new Date().toISOString() };
    comments.push(comment);
    return comment;
  }

  attachments(issue: number): Attachment[] {
    return this.#card(issue).attachments;
  }

  attachment(id: number): Attachment | undefined {
    return this.#attachments.get(id)?.attachment;
  }

  openAttachment({ issue, ...upload }: Upload): AttachmentWriter {
    const card = this.#card(issue);
    if (card.attachments.length + card.arriving >= LIMITS.attachments) throw new BoardFull("attachments");
    card.arriving += 1;
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    return {
      write: (piece) => pieces.push(piece),
      finish: () => {
        const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
        const attachment = { ...upload, id: ++this.#last, size, created: new Date().toISOString() };
        this.#attachments.set(attachment.id, { attachment, pieces });
        card.attachments.push(attachment);
        card.arriving -= 1;
        return attachment;
      },
      abandon: () => {
        card.arriving -= 1;
      },
    };
  }

  *pieces(attachment: number): Generator<Uint8Array<ArrayBuffer>> {
    yield* this.#attachments.get(attachment)?.pieces ?? [];
  }

  addChange(change: Change): void {
    this.#changes.push({ id: (this.#changes.at(-1)?.id ?? 0) + 1, change });
    if (this.#changes.length > LIMITS.changes) this.#changes.shift();
  }

  changesAfter(id: number, limit: number): NumberedChange[] {
    const [first] = this.#changes;
    const from = first === undefined ? 0 : Math.max(0, id + 1 - first.id);
    return this.#changes.slice(from, from + limit);
  }

  changeIds(): { oldest: number; newest: number } {
    return { oldest: this.#changes[0]?.id ?? 0, newest: this.#changes.at(-1)?.id ?? 0 };
  }

  close(): void {
    for (const kept of [this.#logins, this.#cards, this.#attachments]) kept.clear();
    this.#changes.length = 0;
  }

  #card(issue: number): Card {
    const card = this.#cards.get(issue);
    if (card === undefined) throw new RangeError(`there is no issue ${issue}`);
    return card;
  }

  #assignee(id: number | null): User | null {
    return id === null ? null : (this.user(id) ?? null);
  }
}
