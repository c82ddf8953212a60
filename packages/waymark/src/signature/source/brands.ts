/** Names that mark a type and that no data has. Symbols are brands too. */
const BRAND = /^(?:[_$]|brand$|tag$)/;

/**
 * Whether properties in an intersection with a text, a number or a list are a brand, which exists only for the
 * compiler. Any other property is a condition that no value of a request fulfils, such as `length`.
 */
export const isBrand = (names: readonly string[]): boolean => names.every((name) => BRAND.test(name));
