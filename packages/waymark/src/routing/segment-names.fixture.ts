/** Class names and their path segments. The server's rule and the client's types are held to the same rows. */
export const CLASS_SEGMENTS = [
  ["Foo", "foo"],
  ["FooBar", "foo-bar"],
  ["HTTPStatus", "http-status"],
  ["OAuthToken", "o-auth-token"],
  ["V2Users", "v2-users"],
  ["V2users", "v2users"],
  ["A1B2", "a1-b2"],
  ["Foo_Bar", "foo-bar"],
  ["Foo__BAr", "foo--b-ar"],
  ["TopTenBooksOfAYear", "top-ten-books-of-a-year"],
  ["A", "a"],
  ["ABC", "abc"],
  ["ABc", "a-bc"],
  ["ÄpfelÖl", "äpfel-öl"],
  ["lower", "lower"],
  ["camelCase", "camel-case"],
] as const;
