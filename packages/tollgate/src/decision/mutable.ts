/** What whoever makes a value may do with it. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
