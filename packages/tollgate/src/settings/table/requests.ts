import { choice, int } from "../kinds.ts";
import { setting } from "../setting.ts";

export const requests = {
  maxBytes: setting(
    "MAX_REQUEST_SIZE_IN_BYTES",
    int(1024, 64 * 1024 * 1024),
    256 * 1024,
    "Largest request over gRPC, as sent and once decompressed, and largest body of `/json` and `/explain`.",
  ),
  maxDescriptors: setting("MAX_DESCRIPTORS", int(1, 100_000), 100, "Most descriptors of a request."),
  maxEntries: setting("MAX_ENTRIES_PER_DESCRIPTOR", int(1, 100_000), 32, "Most entries of a descriptor."),
  oversized: setting(
    "OVERSIZED_REQUEST",
    choice({ error: "error", deny: "deny" }),
    "error",
    "Answer to a request above one of these limits. `error`: RESOURCE_EXHAUSTED, or 413 over HTTP; a gateway that fails open lets the call pass. `deny`: OVER_LIMIT.",
  ),
};
