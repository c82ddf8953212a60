import type { ServerName } from "./server.ts";

type Exceptions = Readonly<Record<string, string>>;

const DECODED =
  "wsgiref provides only the decoded path, which does not distinguish an escape from its character";
const TARGET = "wsgiref uses the whole request target as the path";
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
  "returned: nothing": "wsgiref adds a Content-Length to an answer that must not have one",
};

const AUTHORITY = "the application gets no authority of the target; only the Host header names the host";

const UNTYPED = "wsgiref.validate requires a Content-Type even without content";

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
