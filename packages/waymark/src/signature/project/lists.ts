import type { Projection } from "./projection-context.ts";

/** The same list if no item changes. */
export function mapped(
  list: readonly unknown[],
  at: (index: number) => Projection | undefined,
): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const project = at(index);
    if (project === undefined) continue;
    const made = project(list[index]);
    if (made === list[index]) continue;
    copy ??= [...list];
    copy[index] = made;
  }
  return copy ?? list;
}
