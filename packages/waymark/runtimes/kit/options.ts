import type { ApplicationOptions } from "@tollway/waymark";
import {
  accessLog,
  compression,
  defaultCacheControl,
  etag,
  secureHeaders,
  timeout,
} from "@tollway/waymark/kit";
import { ids, spans, visits } from "./parts.ts";
import "./tracing.ts";

export const options = {
  bodyLimit: 1000,
  cors: { origins: ["https://app.example"], credentials: true },
  use: [
    accessLog({ id: ids }),
    ids,
    spans,
    secureHeaders(),
    compression(),
    etag(),
    defaultCacheControl({ noCache: true }),
    timeout({ after: 60_000, for: ({ path }) => (path === "/slow" ? 20 : undefined) }),
    visits,
  ],
  log: () => undefined,
} satisfies ApplicationOptions;
