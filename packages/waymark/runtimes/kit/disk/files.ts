import { Controller } from "@tollway/waymark";
import { folder } from "@tollway/waymark/kit/files";

const assets = folder("public", { cache: { maxAge: 60 } });

export class Default extends Controller {
  GET(...path: string[]) {
    return assets(this, path);
  }
}
