import { Controller, problem } from "@tollway/waymark";
import { type NewNote, type Note, store } from "../notes.ts";

/** @integer @minimum 1 */
type Id = number;

function noNote(id: Id) {
  return problem(404, `there is no note ${id}`);
}

/** `/notes` and `/notes/{id}` */
export class Default extends Controller {
  /** One note, or all notes whose title contains a text. */
  GET(id?: Id, { search = "" }: { search?: string } = {}) {
    if (id === undefined) return store.all(search);
    return store.find(id) ?? noNote(id);
  }

  POST(note: NewNote): Note {
    const added = store.add(note);
    this.response.status = 201;
    this.response.headers.set("location", `/notes/${added.id}`);
    return added;
  }

  DELETE(id: Id) {
    return store.remove(id) ? undefined : noNote(id);
  }
}
