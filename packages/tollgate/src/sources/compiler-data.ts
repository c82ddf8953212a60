/** The start data of a thread that compiles rules. The threads of a bundle have one entry, which reads it. */
export const COMPILER_DATA = "compile rules";
