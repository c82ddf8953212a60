import { Controller, ServerSentEvent } from "@tollway/waymark";
import { attachment, checkMatch, heartbeat, lastEventId, tagOf, within } from "@tollway/waymark/kit";
import { cart, ids, people, seen, spans, tokens, users, visits } from "../parts.ts";

export class Id extends Controller {
  GET({ secret }: { secret?: string }) {
    return { id: ids.of(this), secret };
  }
}

export class Trace extends Controller {
  GET() {
    return spans.spanOf(this)!.spanContext().traceId;
  }
}

export class Report extends Controller {
  GET() {
    this.response.headers.set("content-disposition", attachment("für Mai.csv"));
    this.response.headers.set("content-type", "text/csv");
    return "day,visits";
  }
}

export class Bearer extends Controller {
  async GET() {
    return (await users(this)).name;
  }
}

export class Basic extends Controller {
  async GET() {
    return (await people(this)).name;
  }
}

export class Token extends Controller {
  async GET() {
    return (await tokens(this)).sub;
  }
}

export class Login extends Controller {
  async GET() {
    return { user: (await visits.of(this)).data.user ?? null };
  }
  async POST({ user }: { user: string }) {
    const session = await visits.of(this);
    session.renew();
    session.data.user = user;
  }
  async DELETE() {
    (await visits.of(this)).destroy();
  }
}

export class Cart extends Controller {
  async GET() {
    return (await cart.read(this)) ?? [];
  }
  async POST({ book }: { book: number }) {
    await cart.write(this, [...((await cart.read(this)) ?? []), book]);
  }
}

export class Seen extends Controller {
  async GET() {
    return (await seen.read(this)) ?? null;
  }
  async PUT(text: string) {
    await seen.write(this, text);
  }
}

const book = { title: "Emma" };

export class Book extends Controller {
  GET() {
    return book;
  }
  async PUT({ title }: { title: string }) {
    checkMatch(this, await tagOf(book));
    book.title = title;
  }
}

export class Lines extends Controller {
  GET() {
    return Array.from({ length: 500 }, (_, at) => `line ${at}`);
  }
}

export class Pieces extends Controller {
  async *GET() {
    for (let at = 0; at < 3; at++) yield `${"piece ".repeat(200)}${at}\n`;
  }
}

export class Events extends Controller {
  async *GET() {
    const from = Number(lastEventId(this) ?? 0);
    yield* heartbeat(eventsAfter(from), 10_000);
  }
}

async function* eventsAfter(from: number) {
  for (let id = from + 1; id <= 3; id++) yield new ServerSentEvent({ event: "count", id, data: { id } });
}

export class Slow extends Controller {
  GET() {
    return new Promise((resolve) => this.signal.addEventListener("abort", () => resolve("aborted")));
  }
}

export class Step extends Controller {
  GET() {
    return within(
      this,
      20,
      (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
  }
}

export class Page extends Controller {
  GET() {
    this.response.headers.set("content-type", "text/html");
    return "<p>";
  }
}
