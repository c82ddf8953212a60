import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The files without duplicates. A package.json represents all files of its package. */
export function originsOf(files: readonly string[]): string[] {
  return [...new Set(files.map((file) => (isPackaged(file) ? packageOf(file) : file)))].sort();
}

const isPackaged = (file: string): boolean => /[\\/]node_modules[\\/]/.test(file);

function packageOf(file: string): string {
  const manifest = join(dirname(file), "package.json");
  return existsSync(manifest) || dirname(file) === file ? manifest : packageOf(dirname(file));
}
