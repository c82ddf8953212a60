import type { UploadedFile } from "../model/input.ts";
import { type Converter, INVALID, scalarConverter } from "./converter.ts";

function upload(expected: string, make: (file: UploadedFile) => unknown): Converter {
  return scalarConverter({ expected, rank: "file", text: () => INVALID, json: () => INVALID, file: make });
}

const EXPECTED = "a file in a multipart/form-data form";

export const fileConverter = upload(
  EXPECTED,
  ({ bytes, filename, type }) => new File([bytes], filename, { type }),
);
export const blobConverter = upload(EXPECTED, ({ bytes, type }) => new Blob([bytes], { type }));
export const bytesConverter = upload(EXPECTED, ({ bytes }) => bytes);
