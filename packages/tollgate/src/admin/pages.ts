/** The pages of the admin API. `guard.ts` runs before all of them. */
import { Controller, HttpError } from "@tollway/waymark";
import { MAX_AUDIT_LINES } from "../counters/counter-admin.ts";
import type { ControllerTable } from "../listeners/http-listener.ts";
import { AdminError, type AdminErrorCode, storeFailure } from "./admin-error.ts";
import type { AuditLog } from "./audit-log.ts";
import { currentOperator } from "./guard.ts";
import { adminDocument } from "./openapi-document.ts";
import type { Author, Operations } from "./operations.ts";
import type { OverrideOperations } from "./override-operations.ts";
import {
  Body,
  checkNames,
  MOST_NAME,
  OVERRIDE_MEMBERS,
  readCounterQuery,
  readId,
  readNumber,
  readOverride,
} from "./read-request.ts";

const STATUS: Record<AdminErrorCode, number> = {
  INVALID: 400,
  NO_LIMIT: 404,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNSUPPORTED: 501,
  UNAVAILABLE: 503,
};

const MOST_BODY = 64 * 1024;
const DEFAULT_AUDIT = 100;

export interface AdminPagesOptions {
  readonly operations: Operations;
  readonly overrides: OverrideOperations;
  readonly audit: AuditLog;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The published package has no types for Waymark to read, so no method has parameters. `guard.ts` passes the id of an
 * override as a query argument.
 */
export function adminPages({ operations, overrides, audit, now }: AdminPagesOptions): ControllerTable {
  class Page extends Controller {
    static override private = true;
    static override bodyLimit = MOST_BODY;

    protected get query(): URLSearchParams {
      return new URL(this.request.url).searchParams;
    }

    /** The body of a change. */
    protected async body(known: readonly string[]): Promise<Body> {
      const bytes = await this.bytes();
      return new Body(bytes, this.headers.get("content-type"), [...known, "reason"]);
    }

    override onError(error: unknown): unknown {
      if (error instanceof AdminError) throw httpErrorOf(error, this.method === "GET" ? "query" : "body");
      return undefined;
    }
  }

  class Counters extends Page {
    GET() {
      const read = readCounterQuery(this.query);
      return "target" in read ? operations.get(read.target) : operations.search(read.search);
    }
  }

  class Reset extends Page {
    async POST() {
      const body = await this.body(["domain", "descriptor"]);
      return operations.reset(body.target(), authorOf(body));
    }
  }

  class Grant extends Page {
    async POST() {
      const body = await this.body(["domain", "descriptor", "limit", "hits"]);
      const target = body.target();
      const hits = body.number("hits", 1, Number.MAX_SAFE_INTEGER);
      return operations.grant(target, hits, body.optionalText("limit", MOST_NAME), authorOf(body));
    }
  }

  class Overrides extends Page {
    GET() {
      checkNames(this.query, ["id"]);
      return this.query.has("id") ? overrides.get(readId(this.query)) : overrides.list();
    }

    async PUT() {
      const id = readId(this.query);
      const body = await this.body(OVERRIDE_MEMBERS);
      return overrides.set(id, readOverride(body, now()), authorOf(body));
    }

    async DELETE() {
      const id = readId(this.query);
      const bytes = await this.bytes();
      const author =
        bytes.length === 0
          ? { name: currentOperator(), reason: undefined }
          : authorOf(new Body(bytes, this.headers.get("content-type"), ["reason"]));
      return overrides.remove(id, author);
    }
  }

  class Audit extends Page {
    async GET() {
      checkNames(this.query, ["limit"]);
      const most = readNumber(this.query.get("limit"), "limit", DEFAULT_AUDIT, MAX_AUDIT_LINES);
      return { changes: await storeFailure("nothing was read", () => audit.newest(most)) };
    }
  }

  class Document extends Controller {
    GET() {
      return adminDocument;
    }
  }

  return {
    "openapi.json": { Default: Document },
    admin: { v1: { counters: { Default: Counters, Reset, Grant }, Overrides, Audit } },
  };
}

function authorOf(body: Body): Author {
  return { name: currentOperator(), reason: body.reason() };
}

/** @param place of the request's fields */
function httpErrorOf({ code, message, done, field }: AdminError, place: "query" | "body"): HttpError {
  const status = field === "content-type" ? 415 : STATUS[code];
  return new HttpError(status, message, {
    code,
    ...(field !== "" && {
      errors: [{ in: field === "id" ? ("path" as const) : place, name: field, message }],
    }),
    ...(done.length > 0 && { done }),
  });
}
