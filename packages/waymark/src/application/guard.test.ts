import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller, type Guard, HttpError } from "@tollway/waymark";
import { bearer } from "@tollway/waymark/kit";

const users = bearer({ verify: (token) => token === "ann" && { name: "ann" } });
const ANN = { authorization: "Bearer ann" };

abstract class Member extends Controller {
  static override guard = { GET: "public", POST: users, PUT: users.optional } as const;
  get user() {
    return users.of(this).name;
  }
}

class Default extends Member {
  GET() {
    return "public";
  }
  POST({ text }: { text: string }) {
    return [this.user, text];
  }
  async PUT() {
    return (await users.optional(this))?.name ?? "nobody";
  }
}

test("a guard runs before the arguments are read, and its user is typed", async () => {
  const application = new Application({ controllers: { Default } });
  const { test: client } = application;
  assert.equal((await client.get("/")).body, "public");
  assert.equal((await client.head("/")).status, 200);
  assert.equal((await client.options("/")).status, 204);
  const refused = await client.post("/", { json: { nonsense: 1 } });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get("www-authenticate"), "Bearer");
  assert.deepEqual((await client.post("/", { json: { text: "x" }, headers: ANN })).body, ["ann", "x"]);
  assert.equal((await client.put("/")).body, "nobody");
  assert.equal((await client.put("/", { headers: ANN })).body, "ann");
  assert.equal((await client.put("/", { headers: { authorization: "Bearer x" } })).status, 401);
});

test("guards of a class: all verbs, in order with the hooks, and any way to refuse", async () => {
  const order: string[] = [];
  const guards: Record<string, Guard> = {
    passes: () => order.push("guard"),
    answers: () => new Response(null, { status: 403 }),
    returns: () => new HttpError(402, "pay"),
    throws: async () => {
      throw new HttpError(401, "who?");
    },
  };
  const controllers = Object.fromEntries(
    Object.entries(guards).map(([name, guard]) => {
      class Guarded extends Controller {
        static override guard = guard;
        override before() {
          order.push("before");
        }
        GET() {
          order.push("method");
        }
      }
      return [`G${name}`, Guarded];
    }),
  );
  const application = new Application({ controllers, before: () => void order.push("application") });
  const statuses: number[] = [];
  for (const name of Object.keys(guards)) statuses.push((await application.test.get(`/g${name}`)).status);
  assert.deepEqual(statuses, [204, 403, 402, 401]);
  assert.equal(order.slice(0, 4).join(), "application,guard,before,method");
  assert.equal(order.slice(4).join(), "application,application,application");
});

test("a verb without a guard of its own ends the start", async () => {
  for (const guard of [{ GET: users }, { GET: users, post: users }, { GET: users, POST: "open" }, {}]) {
    class Forgot extends Controller {
      static override guard = guard as never;
      GET() {}
      POST() {}
    }
    const application = new Application({ controllers: { Forgot } });
    await assert.rejects(
      application.ready(),
      /class Forgot: static guard must name (GET|POST), with a guard or "public"/,
    );
  }
});
