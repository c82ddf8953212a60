import { type EventV1, isV2, type LambdaEvent } from "./event.ts";

/** The head of an answer, in the form that the source of the event takes. */
export interface AnswerHead {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly cookies?: readonly string[];
}

/** @param headers flat: name, value, name, value */
export function answerHead(event: LambdaEvent, statusCode: number, headers: readonly string[]): AnswerHead {
  const values = new Map<string, string[]>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    const known = values.get(name);
    if (known === undefined) values.set(name, [headers[at + 1]!]);
    else known.push(headers[at + 1]!);
  }
  if (!isV2(event) && !isSingle(event)) return { statusCode, multiValueHeaders: Object.fromEntries(values) };
  const cookies = values.get("set-cookie") ?? [];
  values.delete("set-cookie");
  const joined = Object.fromEntries([...values].map(([name, several]) => [name, several.join(", ")]));
  if (cookies.length === 0) return { statusCode, headers: joined };
  if (isV2(event)) return { statusCode, headers: joined, cookies };
  const spelled = cookies.map((cookie, at) => [spelling("set-cookie", at), cookie]);
  return { statusCode, headers: { ...joined, ...Object.fromEntries(spelled) } };
}

/** A load balancer takes several values of a header only if its target group is set up so. Its events then have several. */
function isSingle({ requestContext: { elb }, multiValueHeaders }: EventV1): boolean {
  return elb !== undefined && multiValueHeaders == null;
}

/** One of the spellings of a name. To a load balancer, names that differ in case are several headers. */
function spelling(name: string, number: number): string {
  let rest = number;
  return name.replace(/[a-z]/g, (letter) => {
    const isUpper = rest % 2 === 1;
    rest = Math.floor(rest / 2);
    return isUpper ? letter.toUpperCase() : letter;
  });
}
