import { parseCookie } from "cookie";

/** The cookies of a request by name. If a name repeats, the first one counts. */
export function cookiesOf(header: string | undefined): Readonly<Record<string, string>> {
  return parseCookie(header ?? "") as Record<string, string>;
}
