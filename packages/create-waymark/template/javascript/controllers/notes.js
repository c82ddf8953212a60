import { Controller, problem } from "@tollway/waymark";
import { store } from "../notes.js";

/** @param {number} id */
function noNote(id) {
  return problem(404, `there is no note ${id}`);
}

/** `/notes` and `/notes/{id}` */
export class Default extends Controller {
  /**
   * One note, or all notes whose title contains a text.
   * @param {number} [id] @integer @minimum 1
   * @param {{ search?: string }} keywords
   */
  GET(id, { search = "" } = {}) {
    if (id === undefined) return store.all(search);
    return store.find(id) ?? noNote(id);
  }

  /** @param {{ title: string, text?: string }} note what a client sends to create a note */
  POST(note) {
    const added = store.add(note);
    this.response.status = 201;
    this.response.headers.set("location", `/notes/${added.id}`);
    return added;
  }

  /** @param {number} id @integer @minimum 1 */
  DELETE(id) {
    return store.remove(id) ? undefined : noNote(id);
  }
}
