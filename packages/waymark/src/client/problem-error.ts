import type { ProblemDetails } from "./types/answers.ts";

/**
 * A response other than 2xx, with its problem details.
 * @example
 * ```ts
 * import { client, ProblemError } from "@tollway/waymark/client";
 *
 * const api = client<{ books: { GET(id: number): { title: string } } }>("https://api.example");
 * try {
 *   await api.books.GET(7);
 * } catch (error) {
 *   if (error instanceof ProblemError && error.status === 404) console.log(error.problem.detail);
 *   else throw error;
 * }
 * ```
 */
export class ProblemError extends Error {
  /** Always `ProblemError`. */
  override readonly name = "ProblemError";
  /** Always `ERR_PROBLEM`. */
  readonly code = "ERR_PROBLEM";
  /** The HTTP status. */
  readonly status: number;
  /** The problem details. A response without them has a title and the text of its body. */
  readonly problem: ProblemDetails & { readonly [member: string]: unknown };
  /** The headers of the response. */
  readonly headers: Headers;
  /** The response. Its body has been read. */
  readonly response: Response;

  constructor(call: string, problem: ProblemDetails, response: Response) {
    const { detail } = problem;
    super(`${call}: ${response.status} ${problem.title}${detail === undefined ? "" : `: ${detail}`}`);
    this.status = response.status;
    this.problem = problem as ProblemError["problem"];
    this.headers = response.headers;
    this.response = response;
  }
}

/** The problem details of a response. A proxy may answer with something else. */
export async function problemOf(response: Response): Promise<ProblemDetails> {
  const { status, statusText } = response;
  const text = await response.text();
  const bare = { type: "about:blank", title: statusText || "Error", status };
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return { ...bare, ...body };
  } catch {
    // The body is not JSON.
  }
  return text === "" ? bare : { ...bare, detail: text.slice(0, 1000) };
}
