/** The type of a value in JSON: text for a `Date`, a `URL` and a `bigint`, nothing for a function. */
export type Wire<T, Revive extends boolean> = 0 extends 1 & T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends bigint
      ? string
      : T extends Date
        ? Revive extends true
          ? Date
          : string
        : T extends { toJSON(...args: never): infer Json }
          ? Wire<Json, false>
          : T extends readonly unknown[]
            ? { [Key in keyof T]: WireItem<T[Key], Revive> }
            : T extends object
              ? { [Key in keyof T as T[Key] extends Unsent ? never : Key]: Wire<T[Key], Revive> }
              : T;

/** JSON writes an absent value of a list as null. */
type WireItem<T, Revive extends boolean> = T extends undefined ? null : Wire<T, Revive>;

type Unsent = symbol | ((...args: never) => unknown);
