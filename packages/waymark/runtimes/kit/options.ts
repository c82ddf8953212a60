import type { ApplicationOptions } from "@tollway/waymark";
import {
  accessLog,
  compression,
  defaultCacheControl,
  etag,
  secureHeaders,
  timeout,
} from "@tollway/waymark/kit";
import { ids, visits } from "./parts.ts";

export const options = {
  bodyLimit: 1000,
  cors: { origins: ["https://app.example"], credentials: true },
  use: [
    accessLog({ id: ids }),
    ids,
    secureHeaders(),
    compression(),
    etag(),
    defaultCacheControl({ noCache: true }),
    timeout({ after: 60_000, for: ({ path }) => (path === "/slow" ? 20 : undefined) }),
    visits,
  ],
  log: () => undefined,
} satisfies ApplicationOptions;
