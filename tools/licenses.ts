/** License texts of bundled packages. Their licenses require that a copy carries the text. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @param inputs paths of bundled files, relative to `root` */
export function licensesOf(inputs: readonly string[], root: string): string {
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  return [...folders]
    .sort()
    .map((folder) => licenseOf(join(root, folder)))
    .join("\n");
}

function licenseOf(path: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Record<
    "name" | "version" | "license",
    string
  >;
  const [file] = globSync("{LICENSE,LICENCE,License,license}*", { cwd: path }).sort();
  const text =
    file === undefined
      ? `The package has no license file; it names ${license}.\n`
      : readFileSync(join(path, file), "utf8");
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n${"=".repeat(80)}\n${text}`;
}
