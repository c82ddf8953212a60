import assert from "node:assert/strict";
import { type Client, client, type Result } from "@tollway/waymark/client";
import type { Api } from "./waymark.api.d.ts";

/** Where a board serves. */
export interface Served {
  readonly url: string;
  /** Default: the platform's. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** One thing that the board does, with the name of the test. */
export type Step = readonly [name: string, run: () => Promise<void>];

/** A client of its own, which keeps cookies like a browser. */
export function visitor({ url, fetch = globalThis.fetch }: Served): Client<Api> {
  const cookies = new Map<string, string>();
  const send = async (request: Request) => {
    if (cookies.size > 0)
      request.headers.set("cookie", [...cookies].map((each) => each.join("=")).join("; "));
    const response = await fetch(request);
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/Max-Age=0/.test(line)) cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    return response;
  };
  return client<Api>(url, { fetch: send });
}

const PASSWORD = "correct horse battery";

/** Tests of the board, for every runtime and every store. The steps build on each other. */
export function scenario(served: Served): Step[] {
  const steps: Step[] = [];
  const test = (name: string, run: () => Promise<void>) => void steps.push([name, run]);
  const [ann, ben, stranger] = [visitor(served), visitor(served), visitor(served)];

  /** The names of the faults that the server finds. */
  async function faults(result: Promise<Result<unknown, false>>): Promise<string[]> {
    const refused = await result;
    assert.ok(refused.status === 400, String(refused.status));
    return (refused.problem.errors ?? []).map(({ name }) => name).sort();
  }

  const match = (etag: string | null) => ({ headers: { "if-match": etag ?? "" } });

  test("users sign up, log in and log out", async () => {
    const signed = await ann.users.POST.safe({ name: "Ann", password: PASSWORD });
    assert.ok(signed.ok && signed.status === 201);
    const cookie = signed.headers.get("set-cookie") ?? "";
    // Over HTTPS, the cookie is also `Secure`.
    assert.match(cookie, /HttpOnly; (?:Secure; )?SameSite=Lax/);
    assert.deepEqual(await ann.session.GET(), signed.data);
    const taken = await ben.users.POST.safe({ name: "ANN", password: PASSWORD });
    assert.ok(taken.status === 409 && taken.problem.code === "NAME_TAKEN");
    for (const [name, password] of [
      ["Ann", "wrong password"],
      ["Nobody", PASSWORD],
    ] as const) {
      const refused = await ben.session.POST.safe({ name, password });
      assert.ok(refused.status === 403 && refused.problem.code === "WRONG_LOGIN");
    }
    await ann.session.DELETE();
    assert.equal(await ann.session.GET(), undefined);
    assert.deepEqual(await ann.session.POST({ name: "ann", password: PASSWORD }), signed.data);
    const { name } = await ben.users.POST({ name: "Ben", password: PASSWORD });
    assert.equal(name, "Ben");
    assert.deepEqual(
      (await stranger.users.GET()).map((user) => Object.keys(user).join()),
      ["id,name", "id,name"],
    );
    assert.deepEqual(await faults(ben.users.POST.safe({ name: "<b>", password: "short" })), [
      "name",
      "password",
    ]);
  });

  test("a stranger reads, and changes nothing", async () => {
    assert.deepEqual(await stranger.issues.GET(), { items: [], next: null });
    const nonsense = { nonsense: true } as unknown as { title: string };
    const refused = await stranger.issues.POST.safe(nonsense);
    assert.ok(refused.status === 401);
    assert.equal(refused.headers.get("www-authenticate"), 'Cookie cookie-name="session"');
    assert.doesNotMatch(JSON.stringify(refused.problem), /nonsense/);
    assert.equal((await stranger.issue.PATCH.safe(1, { title: "x" })).status, 401);
    assert.equal((await stranger.issue.comments.POST.safe(1, { text: "x" })).status, 401);
    assert.equal(
      (await stranger.issue.attachments.POST.with({ body: "x" }).safe(1, { name: "x" })).status,
      401,
    );
  });

  test("an issue is opened, read and changed, unless somebody else was faster", async () => {
    const opened = await ann.issues.POST.safe({ title: "The bell is silent", labels: ["bell"] });
    assert.ok(opened.ok && opened.status === 201);
    const { id, author, status } = opened.data;
    assert.deepEqual([author.name, status], ["Ann", "open"]);
    assert.equal(opened.headers.get("location"), `/issue/${id}`);
    const read = await ben.issue.GET.safe(id);
    assert.ok(read.ok);
    const seen = read.headers.get("etag");
    assert.equal(
      (await ben.issue.GET.with({ headers: { "if-none-match": seen! } }).response(id)).status,
      304,
    );
    assert.equal((await ben.issue.PATCH.safe(id, { status: "doing" })).status, 428);
    const changed = await ben.issue.PATCH.with(match(seen)).safe(id, {
      status: "doing",
      assignee: author.id,
    });
    assert.ok(changed.ok);
    assert.deepEqual(
      [changed.data.status, changed.data.assignee, changed.data.labels],
      ["doing", author, ["bell"]],
    );
    const late = await ann.issue.PATCH.with(match(seen)).safe(id, { title: "The bell is loud" });
    assert.equal(late.status, 412);
    assert.equal(late.headers.get("etag"), changed.headers.get("etag"));
    const again = await ann.issue.PATCH.with(match(late.headers.get("etag")))(id, {
      assignee: null,
      labels: [],
    });
    assert.deepEqual([again.assignee, again.labels, again.title], [null, [], "The bell is silent"]);
  });

  test("one of two changes at the same time wins", async () => {
    const { id } = await ann.issues.POST({ title: "Race" });
    const seen = (await ann.issue.GET.safe(id)).headers.get("etag");
    const results = await Promise.all(
      [ann, ben].map((who, at) => who.issue.PATCH.with(match(seen)).safe(id, { text: `by ${at}` })),
    );
    assert.deepEqual(results.map(({ status }) => status).sort(), [200, 412]);
  });

  test("a fault has the name of its argument, and a missing issue is a typed problem", async () => {
    const wrong = { title: " ", labels: ["a", "a"], status: "new", colour: "red" } as unknown as {
      title: string;
    };
    assert.deepEqual(await faults(ann.issues.POST.safe(wrong)), ["colour", "labels", "status", "title"]);
    for (const id of [0, 1.5, -1, 1e300]) assert.deepEqual(await faults(stranger.issue.GET.safe(id)), ["id"]);
    const missing = await stranger.issue.GET.safe(999_999);
    assert.ok(missing.status === 404 && missing.problem.code === "NO_ISSUE");
    const comments = await stranger.issue.comments.GET.safe(999_999);
    assert.ok(comments.status === 404 && comments.problem.code === "NO_ISSUE");
    const file = await stranger.attachment.GET.safe(999_999);
    assert.ok(file.status === 404 && file.problem.code === "NO_ATTACHMENT");
    const assigned = await ann.issues.POST.safe({ title: "x", assignee: 999_999 });
    assert.ok(assigned.status === 409 && assigned.problem.code === "NO_USER");
  });

  test("the list has filters, and pages by cursor", async () => {
    for (let at = 0; at < 5; at++)
      await ben.issues.POST({ title: `Lamp ${at}`, labels: at % 2 === 0 ? ["light", "100%"] : ["light"] });
    const titles = ({ items }: { items: readonly { title: string }[] }) => items.map(({ title }) => title);
    const first = await stranger.issues.GET({ label: "light", limit: 2 });
    assert.deepEqual(titles(first), ["Lamp 4", "Lamp 3"]);
    const second = await stranger.issues.GET({ label: "light", limit: 2, before: first.next! });
    assert.deepEqual(titles(second), ["Lamp 2", "Lamp 1"]);
    const third = await stranger.issues.GET({ label: "light", limit: 2, before: second.next! });
    assert.deepEqual([titles(third), third.next], [["Lamp 0"], null]);
    assert.equal((await stranger.issues.GET({ label: "100%" })).items.length, 3);
    assert.deepEqual(titles(await stranger.issues.GET({ q: "LAMP 3" })), ["Lamp 3"]);
    assert.deepEqual(titles(await stranger.issues.GET({ q: "%" })), []);
    assert.deepEqual(titles(await stranger.issues.GET({ status: "doing" })), ["The bell is silent"]);
    const [ann_] = await stranger.users.GET();
    assert.deepEqual(titles(await stranger.issues.GET({ assignee: ann_!.id })), []);
  });

  test("comments, the oldest first", async () => {
    const { id } = await ann.issues.POST({ title: "Discussed" });
    assert.equal((await ben.issue.comments.POST.safe(id, { text: "Why?" })).status, 201);
    await ann.issue.comments.POST(id, { text: "Because." });
    const list = await stranger.issue.comments.GET(id);
    assert.deepEqual(
      list.map(({ author, text }) => `${author.name}: ${text}`),
      ["Ben: Why?", "Ann: Because."],
    );
    assert.deepEqual(await faults(ben.issue.comments.POST.safe(id, { text: "\n" })), ["text"]);
  });

  test("attachments arrive and leave as they are, in pieces, and never as a page", async () => {
    const { id } = await ann.issues.POST({ title: "Documented" });
    // Text, as its type says: AWS Lambda takes the bodies of such types for UTF-8.
    const content = new Uint8Array(200_000).map((_, at) => at % 128);
    const bytes = new Uint8Array(256).map((_, at) => at);
    const upload = (body: NonNullable<RequestInit["body"]>, name: string) =>
      ben.issue.attachments.POST.with({ body }).safe(id, { name });
    const sent = await upload(new Blob([content], { type: "text/html" }), 'ü "&".html');
    assert.ok(sent.ok && sent.status === 201, String(sent.status));
    assert.deepEqual([sent.data.name, sent.data.type, sent.data.size], ['ü "&".html', "text/html", 200_000]);
    assert.ok((await upload("", "empty")).ok);
    const binary = await upload(new Blob([bytes], { type: "image/png" }), "bytes.png");
    assert.ok(binary.ok);
    assert.deepEqual(
      (await stranger.issue.attachments.GET(id)).map(({ size }) => size),
      [200_000, 0, 256],
    );
    const image = await stranger.attachment.GET.response(binary.data.id);
    assert.deepEqual(new Uint8Array(await image.arrayBuffer()), bytes);
    const response = await stranger.attachment.GET.response(sent.data.id);
    assert.match(
      response.headers.get("content-disposition") ?? "",
      /^attachment; filename="__ ____.html"|^attachment;/,
    );
    assert.match(response.headers.get("content-security-policy") ?? "", /sandbox/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    // A diff of so many bytes would take minutes.
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(content));
    // A server may close the connection while the client still sends.
    const large = await upload(new Uint8Array(10 * 1024 * 1024 + 1), "large").catch(() => undefined);
    assert.ok(large === undefined || large.status === 413);
    assert.equal((await stranger.issue.attachments.GET(id)).length, 3, "nothing of it is left");
    assert.deepEqual(await faults(upload("x", "")), ["name"]);
  });

  test("changes arrive live, and after a break none is missing", async () => {
    const leaving = new AbortController();
    const events = await stranger.events.GET.with({ signal: leaving.signal }).events();
    const reader = events[Symbol.asyncIterator]();
    const first = reader.next();
    const { id } = await ann.issues.POST({ title: "Live" });
    const { value: opened } = await first;
    assert.ok(opened?.data.kind === "issue" && opened.event === "issue");
    assert.deepEqual([opened.data.issue.title, opened.data.by.name], ["Live", "Ann"]);
    leaving.abort();
    await assert.rejects(reader.next());
    await ben.issue.comments.POST(id, { text: "I saw it." });
    await ben.issue.attachments.POST.with({ body: "x" })(id, { name: "x" });
    const missed = await stranger.events.GET.with({ headers: { "last-event-id": opened.id! } }).events();
    const kinds: string[] = [];
    for await (const { data } of missed) {
      kinds.push(data.kind === "comment" ? data.comment.text : data.kind);
      if (kinds.length === 2) break;
    }
    assert.deepEqual(kinds, ["I saw it.", "attachment"]);
    for (const unknown of ["999999", "x"]) {
      const all = await stranger.events.GET.with({ headers: { "last-event-id": unknown } }).events();
      for await (const { data } of all) {
        assert.equal(data.kind, "reset");
        break;
      }
    }
    // workerd notices that these clients have left when it sends them the next event.
    await ann.issue.comments.POST(id, { text: "The last one." });
  });
  return steps;
}
