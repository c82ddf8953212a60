import { Controller } from "@tollway/waymark";

export class Default extends Controller {
  GET() {
    return "Default handler";
  }

  async POST({ name }: { name: string }) {
    return `hello ${name}`;
  }
}

export class Foo extends Controller {
  GET(id: number, { verbose = false }: { verbose?: boolean }) {
    return { id, verbose };
  }
}
