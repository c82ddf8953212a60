/** The client's property for a class name: the server's path segment with `_` for `-`. `FooBar` is `foo_bar`. */
export type PropertyOfClass<Name extends string> =
  // One word is the most common name, and needs no loop.
  Uncapitalize<Name> extends Lowercase<Name> ? Lowercase<Name> : Words<Name>;

/** Goes through a name by character. `Before` is the previous character. */
type Words<
  Rest extends string,
  Before extends string = "",
  Done extends string = "",
> = Rest extends `${infer Character}${infer Tail}`
  ? Character extends Lowercase<Character>
    ? Words<Tail, Character, `${Done}${Character}`>
    : Words<Tail, Character, `${Done}${Separator<Before, Tail>}${Lowercase<Character>}`>
  : Done;

/** The text before a capital: `_` after a small letter or a digit, and before the last capital of `HTTPStatus`. */
type Separator<Before extends string, Tail extends string> = Before extends "" | "_"
  ? ""
  : Before extends Digit
    ? "_"
    : Before extends Uppercase<Before>
      ? Tail extends `${infer Next}${string}`
        ? Next extends Uppercase<Next>
          ? ""
          : "_"
        : ""
      : "_";

type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
