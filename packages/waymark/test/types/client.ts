/** The types of the client: correct use compiles, incorrect use does not. */
import { Application, type Problem, problem } from "@tollway/waymark";
import {
  type Answer,
  type CallOptions,
  client,
  type ProblemDetails,
  ProblemError,
  type PropertyOfClass,
  type Result,
  type Table,
  type Wire,
} from "@tollway/waymark/client";
import type { Holds, Same } from "../../../../tools/type-checks.ts";
import type { CLASS_SEGMENTS } from "../../src/routing/segment-names.fixture.ts";
import type { Api } from "../fixtures/client/api.d.ts";

/** The server's table of cases: the property is the segment with `_` for `-`. */
type Rows = typeof CLASS_SEGMENTS;
type Underscored<Segment extends string> = Segment extends `${infer Before}-${infer After}`
  ? `${Before}_${Underscored<After>}`
  : Segment;
type SameSegment<Row> = Row extends readonly [infer Name extends string, infer Segment extends string]
  ? Same<PropertyOfClass<Name>, Underscored<Segment>>
  : false;
type Checked = { [Key in keyof Rows]: SameSegment<Rows[Key]> }[number];
export type AllSegments = Holds<Same<Checked, true>>;

interface Book {
  id: bigint;
  at: Date;
  link: URL;
  note?: string;
  list: (string | undefined)[];
  pair: [Date, number];
  method(): void;
}

export type WireResults = [
  Holds<
    Same<
      Wire<Book, false>,
      {
        id: string;
        at: string;
        link: string;
        note?: string;
        list: (string | null)[];
        pair: [string, number];
      }
    >
  >,
  Holds<Same<Wire<{ at: Date | null }, true>, { at: Date | null }>>,
  Holds<Same<Wire<unknown, false>, unknown>>,
  Holds<Same<Answer<"a" | 1 | undefined, false>, "a" | 1 | undefined>>,
  Holds<Same<Answer<null, false>, undefined>>,
  Holds<Same<Answer<void, false>, undefined>>,
  Holds<Same<Answer<Buffer, false>, Blob>>,
  Holds<Same<Answer<Response, false>, unknown>>,
  Holds<Same<Answer<Generator<{ at: Date }>, false>, AsyncIterable<{ at: string }>>>,
  Holds<Same<Answer<AsyncGenerator<{ at: Date }>, true>, AsyncIterable<{ at: Date }>>>,
  Holds<Same<Answer<AsyncGenerator<Uint8Array>, false>, AsyncIterable<Uint8Array>>>,
  Holds<Same<Answer<Date[], false>, string[]>>,
];

const api = client<Api>("https://example.com");
const revived = client<Api>("https://example.com", { revive: true, table: {} as Table });

export type Properties = [
  Holds<
    Same<
      Exclude<keyof typeof api, "GET">,
      "books" | "stream_forms" | "echo" | "slugs" | "files" | "shapes" | "http_status" | "raw"
    >
  >,
  Holds<Same<keyof typeof api.books, "GET" | "export" | "top_ten">>,
  Holds<Same<keyof typeof api.slugs, "GET" | "special">>,
];

export async function rightUse(): Promise<void> {
  const root: string = await api.GET();
  const book = await api.books.GET(1);
  const published: string = book.published;
  const date: Date = (await revived.books.GET(1)).published;
  const inferred: string | undefined = (await api.books.top_ten.GET())[0]?.published;
  const nothing: undefined = await api.echo.DELETE(1);
  for await (const { id, published } of await api.books.export.GET()) void [id.toFixed(), published.at(0)];
  // All keywords may be absent, so the object may be, too.
  await api.echo.GET(1);
  await api.echo.GET(1, { since: new Date(), tags: ["a"] });
  await api.files.GET({ lang: "de" }, "a", "b");
  await api.slugs.GET("a");
  await api.slugs.special.GET();
  const blob: Blob = await api.stream_forms.bytes.GET();
  const options: CallOptions = { headers: { "x-mark": "1" }, signal: AbortSignal.abort(), retries: 1 };
  const marked = await api.echo.GET.with(options)(1);
  const response: Response = await api.echo.GET.with(options).response(1);
  void [root, published, date, inferred, nothing, blob, marked.header, response];

  const result = await api.books.GET.safe(1);
  if (result.status === 404) {
    const code: string = result.problem.code;
    void code;
  } else if (result.ok) {
    const title: string = result.data.title;
    void title;
  } else {
    const problem: ProblemDetails = result.problem;
    // @ts-expect-error: only the problem that the method returns has this member
    void [problem, result.problem.code];
  }
  const removed: Result<void, false> = await api.echo.DELETE.safe(1);
  if (removed.status === 204) removed.data satisfies undefined;
}

/** A returned problem has its status and its own members. */
const missing = problem(404, "gone", { code: "NO_BOOK", title: "No book" });
export type Problems = [
  Holds<Same<(typeof missing)["status"], 404>>,
  Holds<Same<(typeof missing)["members"], { code: "NO_BOOK" }>>,
];
/** Texts are literals, and lists fit a declared list. */
export const refused = (): Problem<409, { code: "TAKEN"; by: string[] }> =>
  problem(409, "taken", { code: "TAKEN", by: ["ann"] });

/** A declaration for another repository: plain functions by verb. */
interface Standalone {
  books: { GET(id: number): { at: Date }; "2024": { GET(): string } };
}
const standalone = client<Standalone>("https://example.com");
export async function standaloneUse(): Promise<string> {
  return (await standalone.books.GET(1)).at + (await standalone.books["2024"].GET());
}

export async function wrongUse(): Promise<void> {
  // @ts-expect-error: an id is a number
  await api.books.GET("1");
  // @ts-expect-error: the id is required
  await api.books.GET();
  // @ts-expect-error: there is no such keyword
  await api.echo.GET(1, { until: new Date() });
  // @ts-expect-error: the keywords are required
  await api.echo.POST();
  // @ts-expect-error: the class has no such verb
  await api.books.POST({});
  // @ts-expect-error: the submodule hides the class of the same name, which has no argument
  await api.books.GET();
  // @ts-expect-error: an abstract class has no path
  await api.base.GET();
  // @ts-expect-error: a name that ends in Controller has no path
  await api.hidden.GET();
  // @ts-expect-error: not a controller
  api.version;
  // @ts-expect-error: a date is text on the wire
  const date: Date = (await api.books.GET(1)).published;
  // @ts-expect-error: a table is needed to revive dates
  client<Api>("https://example.com", { revive: true });
  // @ts-expect-error: a result must be narrowed first
  const data = (await api.books.GET.safe(1)).data;
  try {
    await api.GET();
  } catch (error) {
    // @ts-expect-error: the members of a problem have no type
    if (error instanceof ProblemError) error.problem.code.length;
  }
  void [date, data];
}

/** The client of an application in this process has the same types. */
const application = new Application();
const inProcess = client<Api>(application.test);
const revivedInProcess = client<Api>(application, { revive: true, table: {} as Table });
export type InProcess = [
  Holds<Same<typeof inProcess, typeof api>>,
  Holds<Same<typeof revivedInProcess, typeof revived>>,
];
export async function callsInProcess(): Promise<void> {
  const { title }: { title: string } = await inProcess.books.GET(1);
  const result = await inProcess.books.GET.safe(1);
  if (result.status === 404) result.problem.code satisfies string;
  // @ts-expect-error: an id is a number
  await inProcess.books.GET(title);
  // @ts-expect-error: there is no such class
  await inProcess.boks.GET(1);
  // @ts-expect-error: nothing can send the requests
  client<Api>({ url: "http://localhost" });
}
