/** The types that a request has gained, in its controller. */
import { Application, Controller, type Part, ServerSentEvent, type TestAnswer } from "@tollway/waymark";
import { client } from "@tollway/waymark/client";
import {
  type Authenticator,
  basic,
  bearer,
  encryptedCookie,
  requestId,
  type Session,
  sessions,
} from "@tollway/waymark/kit";
import { jwt } from "@tollway/waymark/kit/jwt";
import type { Holds, Same } from "../../../../tools/type-checks.ts";

interface User {
  readonly name: string;
}

const users = bearer({ verify: (token): User | undefined => (token === "x" ? { name: "ann" } : undefined) });
const named = basic({ verify: async (name) => name === "ann" && { name } });
const claims = jwt({ algorithms: ["HS256"], key: "x".repeat(32), user: ({ sub }) => sub ?? null });
const visits = sessions<{ user: string; count: number }>({ secret: "x".repeat(32) });
const cart = encryptedCookie<number[]>("cart", { secret: "x".repeat(32) });
const ids = requestId();

export class Books extends Controller {
  user!: User;
  session!: Session<{ user: string; count: number }>;
  readonly id: string = ids.of(this);

  override async before() {
    this.user = await users(this);
    this.session = await visits.of(this);
  }
  async *GET(): AsyncGenerator<ServerSentEvent<User>> {
    this.session.data.count = (this.session.data.count ?? 0) + 1;
    // @ts-expect-error a session has only its own values
    this.session.data.other = 1;
    yield new ServerSentEvent({ id: 1, data: this.user });
    // @ts-expect-error the data has the written type
    yield new ServerSentEvent({ data: 1 });
  }
}

const part: Part = { onAnswer: ({ headers, status }) => headers.set("x-status", String(status)) };
const application = new Application({ controllers: { Books }, use: [part, ids, visits] });
const api = client<{ "": { Books: typeof Books } }>("http://localhost");

export type Results = [
  Holds<Same<typeof users, Authenticator<User>>>,
  Holds<Same<Awaited<ReturnType<typeof users.optional>>, User | undefined>>,
  Holds<Same<Awaited<ReturnType<typeof named>>, { name: string }>>,
  Holds<Same<Awaited<ReturnType<typeof claims>>, string>>,
  Holds<Same<Session<User>["data"], Partial<User>>>,
  Holds<Same<Awaited<ReturnType<typeof cart.read>>, number[] | undefined>>,
  Holds<Same<Awaited<ReturnType<typeof application.test.get<User>>>, TestAnswer<User>>>,
];

export async function read(): Promise<string[]> {
  const names: string[] = [];
  for await (const { data, event, id } of await api.books.GET.events())
    names.push(data.name, event, id ?? "no id");
  for await (const { name } of await api.books.GET()) names.push(name);
  return names;
}

// @ts-expect-error a part is an object with hooks
export const wrong = new Application({ use: [requestId] });
