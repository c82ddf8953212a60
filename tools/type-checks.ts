/** Types for files that are tests of the compiler: `npm run types` checks them. */

/** `true` if both types are identical, not only assignable to each other. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Does not compile for anything but `true`. */
export type Holds<Check extends true> = Check;
