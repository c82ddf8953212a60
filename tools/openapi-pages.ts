/**
 * The pages of the manual that show OpenAPI documents. `node tools/openapi-pages.ts` writes the generated part of each;
 * `openapi-pages.test.ts` fails if a page is not current.
 *
 * To add a page, write its introduction with the two marks below, and add it to `PAGES` and to `website/navigation.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { adminDocument } from "../packages/tollgate/src/admin/openapi-document.ts";
import { openApiDocument } from "../packages/tollgate/src/listeners/openapi-document.ts";
import { type Document, markdownOf } from "./openapi-markdown.ts";

const MARKS = ["<!-- openapi: begin -->", "<!-- openapi: end -->"] as const;

/** Paths of pages below `docs/`, with their documents. */
export const PAGES: Readonly<Record<string, Document>> = {
  "http-api.md": openApiDocument as unknown as Document,
  "admin-api.md": adminDocument as unknown as Document,
};

export const fileOf = (page: string): string => join(import.meta.dirname, "..", "docs", page);

/** The page with its generated part written anew. */
export function withOperations(page: string, document: Document): string {
  const [begin, end] = MARKS.map((mark) => page.indexOf(mark));
  if (begin! < 0 || end! < begin!) throw new Error(`the page has no ${MARKS.join(" and ")}`);
  return `${page.slice(0, begin)}${MARKS[0]}\n\n${markdownOf(document)}\n\n${page.slice(end!)}`;
}

if (import.meta.main)
  for (const [page, document] of Object.entries(PAGES))
    writeFileSync(fileOf(page), withOperations(readFileSync(fileOf(page), "utf8"), document));
