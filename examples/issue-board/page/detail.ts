import { type Attachment, api, attempt, type Comment, type Issue, type Status, type User } from "./api.ts";
import { byId, element, field, valuesOf } from "./dom.ts";

const STATUSES: readonly Status[] = ["open", "doing", "done"];

/** One issue: its form, its comments and its attachments. */
export class Detail {
  readonly #place = byId("issue", HTMLElement);
  #user: User | undefined;
  #issue: Issue | undefined;
  #etag = "";
  #form = element("form");
  #notice = element("p", { role: "alert" });
  #comments = element("div");
  #attachments = element("ul");

  get id(): number | undefined {
    return this.#issue?.id;
  }

  async setUser(user: User | undefined): Promise<void> {
    this.#user = user;
    if (this.#issue !== undefined) await this.open(this.#issue.id);
  }

  /** Reads an issue and shows it. Undefined: shows none. */
  async open(id: number | undefined): Promise<void> {
    if (id === undefined) {
      this.#issue = undefined;
      this.#place.replaceChildren();
      return;
    }
    const [issue, comments, attachments, users] = await Promise.all([
      this.#read(id),
      api.issue.comments.GET(id),
      api.issue.attachments.GET(id),
      api.users.GET(),
    ]);
    this.#issue = issue;
    this.#show(issue, users);
    this.#comments.replaceChildren(...comments.map(commentNode));
    this.#attachments.replaceChildren(...attachments.map(attachmentNode));
  }

  /** An issue has changed. What a user is writing stays. */
  async changed(issue: Issue, by: User): Promise<void> {
    if (issue.id !== this.#issue?.id || issue.version <= this.#issue.version) return;
    if (Object.keys(this.#changes()).length === 0) await this.open(issue.id);
    else this.#notice.textContent = `${by.name} has changed this issue meanwhile.`;
  }

  commented(issue: number, comment: Comment): void {
    if (issue === this.id) addOnce(this.#comments, commentNode(comment));
  }

  attached(issue: number, attachment: Attachment): void {
    if (issue === this.id) addOnce(this.#attachments, attachmentNode(attachment));
  }

  async #read(id: number): Promise<Issue> {
    const answer = await api.issue.GET.safe(id);
    if (!answer.ok) throw new Error(answer.problem.detail ?? answer.problem.title);
    this.#etag = answer.headers.get("etag") ?? "";
    return answer.data;
  }

  #show(issue: Issue, users: readonly User[]): void {
    const isReader = this.#user === undefined;
    const title = element("input", { name: "title", required: true, maxLength: 200, value: issue.title });
    const text = element("textarea", { name: "text", rows: 5, maxLength: 20_000, value: issue.text });
    const status = element("select", { name: "status" }, ...STATUSES.map((each) => new Option(each)));
    status.value = issue.status;
    const labels = element("input", { name: "labels", value: issue.labels.join(", ") });
    const options = users.map(({ id, name }) => new Option(name, String(id)));
    const assignee = element("select", { name: "assignee" }, new Option("nobody", ""), ...options);
    assignee.value = String(issue.assignee?.id ?? "");
    const fields = element(
      "fieldset",
      { disabled: isReader },
      field("Title", title, "wide"),
      field("Text", text, "wide"),
      field("Status", status),
      field("Labels", labels),
      field("For", assignee),
      ...(isReader ? [] : [element("button", { className: "main", textContent: "Save" })]),
    );
    this.#form = element("form", { id: "edit" }, fields);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void attempt(() => this.#save(this.#changes()));
    });
    this.#notice = element("p", { role: "alert" });
    this.#place.replaceChildren(
      element("h2", {}, `#${issue.id} `, issue.title),
      element("small", {}, `opened by ${issue.author.name}`),
      this.#form,
      this.#notice,
      element("h3", {}, "Comments"),
      this.#comments,
      ...(isReader ? [] : [this.#commentForm(issue.id)]),
      element("h3", {}, "Attachments"),
      this.#attachments,
      ...(isReader ? [] : [this.#upload(issue.id)]),
    );
  }

  /** Only the changes of the user: two users can change different things. */
  #changes(): Record<string, unknown> {
    const issue = this.#issue;
    if (issue === undefined) return {};
    const { title = "", text = "", status = "", labels = "", assignee = "" } = valuesOf(this.#form);
    const list = [...new Set(labels.split(",").map((label) => label.trim()))].filter((label) => label !== "");
    return {
      ...(title !== issue.title && title !== "" && { title }),
      ...(text !== issue.text && { text }),
      ...(status !== issue.status && status !== "" && { status }),
      ...(list.join() !== issue.labels.join() && { labels: list }),
      ...(assignee !== String(issue.assignee?.id ?? "") && {
        assignee: assignee === "" ? null : Number(assignee),
      }),
    };
  }

  async #save(changes: Record<string, unknown>): Promise<void> {
    const { id } = this.#issue!;
    const patch = api.issue.PATCH.with({ headers: { "if-match": this.#etag } });
    const answer = await patch.safe(id, changes);
    if (answer.ok) return this.open(id);
    if (answer.status !== 412) throw new Error(answer.problem.detail ?? answer.problem.title);
    const current = await this.#read(id);
    this.#showConflict(current, changes);
  }

  /** Somebody else was faster. The user decides. */
  #showConflict(current: Issue, mine: Record<string, unknown>): void {
    const theirs = Object.keys(mine).map((name) => `${name}: ${textOf(current[name as keyof Issue])}`);
    const discard = element("button", { type: "button", textContent: "Take theirs" });
    discard.addEventListener("click", () => attempt(() => this.open(current.id)));
    const keep = element("button", { type: "button", textContent: "Save mine" });
    keep.addEventListener("click", () => attempt(() => this.#save(mine)));
    this.#notice.replaceChildren(
      `Somebody has changed this issue. Now it has ${theirs.join(", ")}. `,
      discard,
      " ",
      keep,
    );
  }

  #commentForm(id: number): HTMLFormElement {
    const text = element("textarea", { name: "text", required: true, maxLength: 5_000, rows: 2 });
    const button = element("button", { textContent: "Comment" });
    const form = element("form", { id: "comment" }, field("Comment", text, "wide"), button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void attempt(async () => {
        await api.issue.comments.POST(id, { text: text.value });
        form.reset();
      });
    });
    return form;
  }

  #upload(id: number): HTMLLabelElement {
    const input = element("input", { type: "file", id: "upload" });
    input.addEventListener("change", () =>
      attempt(async () => {
        const [file] = input.files ?? [];
        if (file === undefined) return;
        await api.issue.attachments.POST.with({ body: file })(id, { name: file.name });
        input.value = "";
      }),
    );
    return field("Attach a file", input);
  }
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object" && value !== null && "name" in value) return String(value.name);
  return value === null || value === "" ? "nothing" : String(value);
}

/** A change may come that was read already. */
function addOnce(place: HTMLElement, node: HTMLElement): void {
  if (document.getElementById(node.id) === null) place.append(node);
}

function commentNode({ id, author, text, created }: Comment): HTMLElement {
  const head = element("small", {}, `${author.name}, ${new Date(created).toLocaleString()}`);
  return element("p", { id: `comment-${id}`, className: "comment" }, head, element("br"), text);
}

function attachmentNode({ id, name, size, author }: Attachment): HTMLElement {
  const link = element("a", { href: `/attachment/${id}`, download: name }, name);
  return element(
    "li",
    { id: `attachment-${id}` },
    link,
    element("small", {}, ` ${size} bytes, from ${author.name}`),
  );
}
