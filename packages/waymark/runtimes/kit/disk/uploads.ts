import { Controller } from "@tollway/waymark";
import { uploads } from "@tollway/waymark/kit/uploads";

export class Default extends Controller {
  async POST() {
    const parts: [string, string | number][] = [];
    for await (const part of uploads(this)) {
      if (part.kind === "field") parts.push([part.name, part.value]);
      else {
        let size = 0;
        for await (const piece of part.content) size += piece.length;
        parts.push([part.filename, size]);
      }
    }
    return parts;
  }
}
