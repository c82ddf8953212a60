import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Manifest, type ManifestModule, type ManifestPackage, stale } from "./manifest.ts";

export function hashOf(text: string | Uint8Array): string {
  // Loaded on demand: it takes 5 ms.
  return process.getBuiltinModule("node:crypto").hash("sha256", text, "hex");
}

/** Refuses a manifest whose sources or packages have changed since the build. Only where there are files: on Node. */
export function refuseStale({ base, modules, files = [], packages = [] }: Manifest): void {
  if (base === undefined || !base.startsWith("file:")) return;
  for (const file of files) compareHash({ ...file, name: "types" }, base);
  for (const one of packages) compareVersion(one, base);
  for (const module of modules) compareHash(module, base);
}

function compareVersion({ name, version, source }: ManifestPackage, base: string): void {
  if (source === undefined) return;
  const path = fileURLToPath(new URL(source, base));
  // Production needs neither the compiler nor packages that contain only types.
  if (!existsSync(path)) return;
  const installed = (JSON.parse(readFileSync(path, "utf8")) as { version?: string }).version ?? "";
  if (installed !== version)
    throw stale(`it was built with ${name} ${version}, and ${installed || "another version"} is installed`);
}

function compareHash(
  { name, source, hash }: Pick<ManifestModule, "name" | "source" | "hash">,
  base: string,
): void {
  if (source === undefined || hash === undefined) return;
  const path = fileURLToPath(new URL(source, base));
  // A bundle or an image may contain no sources to compare with.
  if (!existsSync(path)) return;
  if (hashOf(readFileSync(path)) !== hash) throw stale(`${path} (${name}) has changed since`);
}
