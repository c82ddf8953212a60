/** One fault of a request's arguments. */
export interface BindFault {
  readonly in: "path" | "query" | "body";
  /** The argument with the path into it: `point.x`, `tags[2]`. */
  readonly name: string;
  readonly message: string;
}

/** Bounds the answer, which must not be larger than its request by orders of magnitude. */
const MAXIMUM_FAULTS = 100;

/** All faults of one request's arguments, at most a hundred. */
export class BindFaults {
  /** 404 if a path segment is missing or superfluous, else 400. */
  readonly status: 400 | 404;
  readonly faults: readonly BindFault[];

  constructor(status: 400 | 404, faults: readonly BindFault[]) {
    this.status = status;
    this.faults = faults.length > MAXIMUM_FAULTS ? faults.slice(0, MAXIMUM_FAULTS) : faults;
  }
}
