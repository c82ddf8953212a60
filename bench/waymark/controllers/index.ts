import { Controller } from "@tollway/waymark";
import { summary } from "../order.ts";

export class Default extends Controller {
  GET() {
    return "Hello, world";
  }
}

export class Users extends Controller {
  GET(
    id: number,
    { verbose, lang }: { verbose: boolean; lang: string },
  ): {
    id: number;
    verbose: boolean;
    lang: string;
  } {
    return { id, verbose, lang };
  }
}

export class Orders extends Controller {
  POST(order: { customer: string; priority: number; express: boolean; items: Item[] }) {
    return summary(order);
  }
}

interface Item {
  sku: string;
  quantity: number;
  price: number;
}
