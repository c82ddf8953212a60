/** The spans of the reservation service's calls, for both protocols. */
import type { TraceAttributes } from "../observe/tracing/tracing.ts";
import type { RateLimitResponse } from "../protocol/messages.ts";
import type { CommitResponse, ReserveResponse } from "../protocol/reservation-messages.ts";
import { codeNames } from "../protocol/units.ts";

/** A method, and the attributes of its answer. */
export interface ReservationSpan<Answer> {
  readonly name: string;
  readonly attributesOf: (answer: Answer) => TraceAttributes;
}

const overall = ({ overallCode }: RateLimitResponse) => ({ "overall code": codeNames[overallCode] });

export const reservationSpans = {
  check: { name: "CheckRateLimit", attributesOf: overall },
  report: { name: "Report", attributesOf: overall },
  reserve: {
    name: "Reserve",
    attributesOf: ({ code, reserved }: ReserveResponse) => ({
      code: codeNames[code],
      "reserved amount": reserved,
    }),
  },
  commit: {
    name: "Commit",
    attributesOf: ({ released }: CommitResponse) => ({ "reservation released": released }),
  },
} as const;
