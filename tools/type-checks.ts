/** For files of which the compiler is the test: `npm run types` runs them. */

/** `true` where both types are the same, not only assignable to each other. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Does not compile for anything but `true`. */
export type Holds<Check extends true> = Check;
