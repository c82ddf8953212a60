import type { RefusedPeer } from "@tollway/grpc-wire";
import type { Logger } from "../observe/log.ts";
import { Throttle, withCount } from "../observe/throttle.ts";
import { printable } from "../text/printable.ts";

/** Characters of a subject. The caller chose it. */
const LONGEST_SUBJECT = 200;

/**
 * Returns a function that logs refused TLS callers with address and subject: the first at once, then one line a minute.
 * @param clientSan the DNS name that a caller's certificate must have
 */
export function refusedCallerLog(
  log: Logger,
  clientSan: string | undefined,
  throttle = new Throttle(),
): (refused: RefusedPeer) => void {
  return ({ peer, reason, subject }) => {
    const count = throttle.hit();
    if (count === undefined) return;
    const why = reason.startsWith("`verifyPeer`")
      ? `its certificate does not have the DNS name ${clientSan}`
      : reason;
    const who =
      subject === undefined ? "" : ` with the subject "${printable(subject.slice(0, LONGEST_SUBJECT))}"`;
    log.warn(withCount(`refused a TLS caller at ${peer}${who}: ${why}`, count));
  };
}
