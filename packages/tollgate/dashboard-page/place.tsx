import type { RulePlace } from "../src/dashboard/messages.ts";

/** The address of a source line within the page. */
export function sourceHash({ file, line }: RulePlace): string {
  return `#source=${line}:${encodeURIComponent(file)}`;
}

export function parseSourceHash(hash: string): { readonly file: string; readonly line: number } | undefined {
  const [, line, file] = /^#source=(\d+):(.+)$/.exec(hash) ?? [];
  if (line === undefined || file === undefined) return undefined;
  try {
    return { line: Number(line), file: decodeURIComponent(file) };
  } catch {
    return undefined;
  }
}

/** A link to a source line; a plain text for a rule of a management server. */
export function Place({ place, short = true }: { place: RulePlace; short?: boolean }) {
  const { file, line, text } = place;
  if (line === 0) return <span class="mono">{text}</span>;
  return (
    <a class="mono" href={sourceHash(place)} title={text}>
      {short ? `${file.split("/").at(-1)}:${line}` : text}
    </a>
  );
}
