/** @type {Map<number, { id: number, title: string, text?: string }>} */
const notes = new Map();
let last = 0;

/** Keeps the last 10,000 notes in memory. Replace it with a database. */
export const store = {
  /** @param {string} search */
  all(search) {
    return [...notes.values()].filter(({ title }) => title.includes(search));
  },

  /** @param {number} id */
  find(id) {
    return notes.get(id);
  },

  /** @param {{ title: string, text?: string }} note */
  add(note) {
    const added = { id: ++last, ...note };
    notes.set(added.id, added);
    notes.delete(last - 10_000);
    return added;
  },

  /** @param {number} id */
  remove(id) {
    return notes.delete(id);
  },
};
