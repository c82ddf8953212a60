import { choice, int } from "../kinds/kinds.ts";
import { setting } from "../kinds/setting.ts";

export const requests = {
  maxBytes: setting(
    "MAX_REQUEST_SIZE_IN_BYTES",
    int(1024, 64 * 1024 * 1024),
    256 * 1024,
    "Maximum size of a gRPC request, compressed and decompressed, and of the body of `/json` and `/explain`.",
  ),
  maxDescriptors: setting(
    "MAX_DESCRIPTORS",
    int(1, 100_000),
    100,
    "Maximum number of descriptors in a request.",
  ),
  maxEntries: setting(
    "MAX_ENTRIES_PER_DESCRIPTOR",
    int(1, 100_000),
    32,
    "Maximum number of entries in a descriptor.",
  ),
  oversized: setting(
    "OVERSIZED_REQUEST",
    choice({ error: "error", deny: "deny" }),
    "error",
    "Response to a request above one of these limits. `error`: RESOURCE_EXHAUSTED, or 413 over HTTP; a gateway that fails open allows the call. `deny`: OVER_LIMIT.",
  ),
};
