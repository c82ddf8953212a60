import type { ServerName } from "./server.ts";

type Exceptions = Readonly<Record<string, string>>;

const DECODED =
  "wsgiref tells the decoded path only, in which an escape no longer differs from what it stands for";
const TARGET = "wsgiref takes the whole request target for a path";
const CHUNKED = "wsgiref does not decode chunks";

const WSGIREF: Exceptions = {
  "an encoded slash stays inside its segment": DECODED,
  "a malformed escape in the path": DECODED,
  "a truncated escape in the path": DECODED,
  "an encoded dot-dot is text": DECODED,
  "absolute-form": TARGET,
  "absolute-form without a path": TARGET,
  "OPTIONS *": TARGET,
  "a chunked form": CHUNKED,
  "chunked JSON": CHUNKED,
  "a chunked upload": CHUNKED,
  "over the limit, chunked": CHUNKED,
  "within the limit, as a stream": CHUNKED,
  "returned: nothing": "wsgiref adds a Content-Length to what may not have one",
};

const AUTHORITY = "the path below the application has no authority; only the Host header names the host";

const UNTYPED = "wsgiref.validate asks for a Content-Type where there is no content";

/** Rows of the table that a server changes or rejects, each with the reason. */
export const EXCEPTIONS: Readonly<Record<ServerName, Exceptions>> = {
  uvicorn: {},
  hypercorn: {},
  daphne: {},
  gunicorn: { "absolute-form with user information": AUTHORITY },
  "gunicorn-threads": { "absolute-form with user information": AUTHORITY },
  wsgiref: WSGIREF,
  "wsgiref-validate": {
    ...WSGIREF,
    "absolute-form with user information": TARGET,
    "HEAD does not run a generator": UNTYPED,
    "returned: empty": UNTYPED,
    "returned: accepted": UNTYPED,
    "returned: redirect": UNTYPED,
    "returned: moved": UNTYPED,
    "returned: elsewhere": UNTYPED,
    "returned: reset": UNTYPED,
    "HEAD opens no stream: no_file_response": UNTYPED,
    "after() may rebuild an empty answer": UNTYPED,
    "after() may rebuild a HEAD answer": UNTYPED,
  },
};
