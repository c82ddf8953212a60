/** The fields that a client sends to create a note. */
export interface NewNote {
  /** @minLength 1 @maxLength 200 */
  title: string;
  /** @maxLength 10000 */
  text?: string;
}

export interface Note extends NewNote {
  id: number;
}

const notes = new Map<number, Note>();
let last = 0;

/** Keeps the last 10,000 notes in memory. Replace it with a database. */
export const store = {
  all(search: string): Note[] {
    return [...notes.values()].filter(({ title }) => title.includes(search));
  },

  find(id: number): Note | undefined {
    return notes.get(id);
  },

  add(note: NewNote): Note {
    const added = { id: ++last, ...note };
    notes.set(added.id, added);
    notes.delete(last - 10_000);
    return added;
  },

  remove(id: number): boolean {
    return notes.delete(id);
  },
};
