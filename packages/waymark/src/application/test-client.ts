/** The parts of a test's request besides method and path. At most one of the bodies. */
export interface TestOptions {
  /** Headers of this request. They replace those that the body sets. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Query arguments. A list repeats the name. Undefined leaves a name out. */
  readonly query?: Readonly<Record<string, TestValue | readonly TestValue[] | undefined>>;
  /** A body of JSON. */
  readonly json?: unknown;
  /** A form. Files make it `multipart/form-data`. */
  readonly form?: Readonly<Record<string, TestValue | Blob>>;
  /** Any other body. */
  readonly body?: NonNullable<RequestInit["body"]>;
  /** For the body of an answer that never ends. */
  readonly signal?: AbortSignal;
}

/** A value of a query or a form. A `Date` is sent as ISO 8601. */
export type TestValue = string | number | boolean | bigint | Date;

/** An answer whose body has been read. */
export interface TestAnswer<Body = unknown> {
  /** The HTTP status. */
  readonly status: number;
  /** True for 200 to 299. */
  readonly ok: boolean;
  /** The headers of the answer. */
  readonly headers: Headers;
  /** The value of JSON, the values of its lines, else the text. Undefined without a body. */
  readonly body: Body;
  /** The body as UTF-8 text. Empty without a body. */
  readonly text: string;
  /** The bytes of the body. */
  readonly bytes: Uint8Array;
}

/** Sends one request: `await application.test.get<Book>("/books/1")`. */
export type TestSend = <Body = unknown>(path: string, options?: TestOptions) => Promise<TestAnswer<Body>>;

/** Calls an application without a server. Keeps the cookies that the application sets, like a browser. */
export interface TestClient {
  /** Sends a GET request. */
  readonly get: TestSend;
  /** Sends a HEAD request. Its answer has no body. */
  readonly head: TestSend;
  /** Sends a POST request. */
  readonly post: TestSend;
  /** Sends a PUT request. */
  readonly put: TestSend;
  /** Sends a PATCH request. */
  readonly patch: TestSend;
  /** Sends a DELETE request. */
  readonly delete: TestSend;
  /** Sends an OPTIONS request. */
  readonly options: TestSend;
  /** A request with any other method. */
  request<Body = unknown>(method: string, path: string, options?: TestOptions): Promise<TestAnswer<Body>>;
  /**
   * Sends a request with the cookies and headers of this client. With it, the typed client calls the application:
   * `client<Api>(application.test)`.
   */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The cookies by name. */
  readonly cookies: Map<string, string>;
  /** Another client, without cookies. With headers for all of its requests, such as `authorization`. */
  client(headers?: Readonly<Record<string, string>>): TestClient;
}

type Fetch = (request: Request) => Promise<Response>;

export function testClient(fetch: Fetch, common: Readonly<Record<string, string>> = {}): TestClient {
  const cookies = new Map<string, string>();
  const own = async (request: Request): Promise<Response> => {
    const sent = new Request(request);
    if (cookies.size > 0 && !sent.headers.has("cookie"))
      sent.headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    for (const [name, value] of Object.entries(common))
      if (!sent.headers.has(name)) sent.headers.set(name, value);
    const response = await fetch(sent);
    for (const line of response.headers.getSetCookie()) keep(cookies, line);
    return response;
  };
  const request = async <Body>(method: string, path: string, options: TestOptions = {}) =>
    answerOf(await own(requestOf(method, path, options))) as Promise<TestAnswer<Body>>;
  const send =
    (method: string): TestSend =>
    (path, options) =>
      request(method, path, options);
  return {
    get: send("GET"),
    head: send("HEAD"),
    post: send("POST"),
    put: send("PUT"),
    patch: send("PATCH"),
    delete: send("DELETE"),
    options: send("OPTIONS"),
    request,
    fetch: own,
    cookies,
    client: (headers = {}) => testClient(fetch, { ...common, ...headers }),
  };
}

function requestOf(method: string, path: string, options: TestOptions): Request {
  if (!path.startsWith("/")) throw new TypeError(`the path of a test must start with a slash: "/${path}"`);
  const url = new URL(`http://localhost${path}`);
  for (const [name, value] of Object.entries(options.query ?? {}))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) url.searchParams.append(name, textOf(each));
  const headers = new Headers();
  const body = bodyOf(options, headers);
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  return new Request(url, {
    method,
    headers,
    ...(options.signal !== undefined && { signal: options.signal }),
    ...(body !== undefined && { body }),
    ...(body instanceof ReadableStream && { duplex: "half" }),
  } as RequestInit);
}

function bodyOf({ json, form, body }: TestOptions, headers: Headers): TestOptions["body"] {
  if ([json, form, body].filter((each) => each !== undefined).length > 1)
    throw new TypeError("a test can send one of json, form and body");
  if (json !== undefined) {
    headers.set("content-type", "application/json");
    return JSON.stringify(json);
  }
  if (form === undefined) return body;
  const fields = Object.entries(form);
  const hasFiles = fields.some(([, value]) => value instanceof Blob);
  const made = hasFiles ? new FormData() : new URLSearchParams();
  for (const [name, value] of fields)
    made.append(name, (value instanceof Blob ? value : textOf(value)) as string);
  return made;
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

/** Keeps or forgets a cookie. Paths and domains do not matter for a test. */
function keep(cookies: Map<string, string>, line: string): void {
  const [pair = "", ...attributes] = line.split(";").map((each) => each.trim());
  const equals = pair.indexOf("=");
  const name = pair.slice(0, equals);
  const age = attributes.find((each) => /^max-age=/i.test(each));
  if (age !== undefined && Number(age.slice("max-age=".length)) <= 0) cookies.delete(name);
  else cookies.set(name, pair.slice(equals + 1));
}

async function answerOf(response: Response): Promise<TestAnswer> {
  const { status, ok, headers } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  return { status, ok, headers, bytes, text, body: bodyValue(text, headers.get("content-type") ?? "") };
}

function bodyValue(text: string, type: string): unknown {
  const media = type.split(";")[0]!.trim().toLowerCase();
  if (text === "") return undefined;
  if (media === "application/x-ndjson")
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  return media.endsWith("json") ? JSON.parse(text) : text;
}
