/** The content of a test file, checked. */
import type { RateLimitRequest } from "../protocol/messages.ts";
import type { LoadOptions } from "../rules/check-configs.ts";
import type { Location } from "../rules/rule.ts";
import type { SimulationSettings } from "../simulate/simulation.ts";

export interface TestFile {
  /** The path, as the user wrote it. */
  readonly name: string;
  /** The configuration, relative to the test file; undefined for the test file's directory. */
  readonly config: string | undefined;
  readonly settings: SimulationSettings & LoadOptions;
  readonly tests: readonly LimitTest[];
}

export interface LimitTest {
  readonly name: string;
  readonly at: Location;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly steps: readonly Step[];
}

export type Step = RequestStep | AdvanceStep;

export interface AdvanceStep {
  readonly kind: "advance";
  readonly at: Location;
  /** Milliseconds; undefined with `to`. */
  readonly by: number | undefined;
  /** Milliseconds since the epoch. */
  readonly to: number | undefined;
}

export interface RequestStep {
  readonly kind: "request";
  readonly at: Location;
  readonly request: RateLimitRequest;
  readonly repeat: number;
  readonly expect: Expectation;
}

/** The expected answer to a request. Undefined fields are not compared. */
export interface Expectation {
  /** The overall code. */
  readonly code: ExpectedCode | undefined;
  readonly descriptors: readonly (ExpectedStatus | undefined)[];
}

export type ExpectedCode = "OK" | "OVER_LIMIT";

/** The expected answer to one descriptor. */
export interface ExpectedStatus {
  readonly code: ExpectedCode | undefined;
  /** `none`: no rule. */
  readonly rule: string | undefined;
  readonly remaining: number | "unlimited" | undefined;
  /** Seconds. */
  readonly reset: number | undefined;
}
