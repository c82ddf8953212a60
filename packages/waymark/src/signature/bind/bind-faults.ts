/** One thing that is wrong with the arguments of a request. */
export interface BindFault {
  readonly in: "path" | "query" | "body";
  /** The argument, with the way into it: `point.x`, `tags[2]`. */
  readonly name: string;
  readonly message: string;
}

/** An answer must not outgrow its request. */
const MAXIMUM_FAULTS = 100;

/** What is wrong with the arguments of one request, found together; no more than a hundred of it. */
export class BindFaults {
  /** 404 where a path segment is missing or too many, else 400. */
  readonly status: 400 | 404;
  readonly faults: readonly BindFault[];

  constructor(status: 400 | 404, faults: readonly BindFault[]) {
    this.status = status;
    this.faults = faults.length > MAXIMUM_FAULTS ? faults.slice(0, MAXIMUM_FAULTS) : faults;
  }
}
