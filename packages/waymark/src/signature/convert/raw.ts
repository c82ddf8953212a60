import { type Converter, reject } from "./converter.ts";
import { fileConverter } from "./uploads.ts";

/** Accepts any value unchanged: text, lists of text, files, JSON values. */
export const RAW: Converter = {
  expected: "anything",
  rank: "unknown",
  keepsJson: true,
  fromText: (text) => text,
  fromFile: (file) => fileConverter.fromFile(file, []),
  fromItem: (value) => (typeof value === "string" ? value : fileConverter.fromFile(value, [])),
  fromList: (values) => values.map((value) => RAW.fromItem(value, [])),
  fromJson: (value) => value,
};

/** `{}` */
export const NON_NULL: Converter = {
  ...RAW,
  fromJson: (value, notes) => (value === null ? reject(notes, "must not be null") : value),
};
