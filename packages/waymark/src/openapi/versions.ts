import type { OpenApiDocument, OpenApiResponse, Operation, PathItem, Reference } from "./document-types.ts";

/** The versions that `Accept` selects, as in the option of the application. */
export interface DocumentedVersions {
  readonly names: readonly string[];
  readonly vendor?: string;
}

type Paths = OpenApiDocument["paths"];

/**
 * Adds the responses of versions to the paths without a version, under media types such as
 * `application/json; version=v2`. OpenAPI cannot have two operations for one path and method, so their arguments are
 * only at the paths of the versions.
 */
export function withVersions(paths: Paths, { names, vendor }: DocumentedVersions): Paths {
  const own = names.map((name) => ({
    name,
    base: `/${name.replaceAll("_", "-")}`,
    type:
      vendor === undefined ? `application/json; version=${name}` : `application/vnd.${vendor}.${name}+json`,
  }));
  const isVersioned = (path: string) => own.some(({ base }) => path === base || path.startsWith(`${base}/`));
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      if (isVersioned(path)) return [path, item];
      const others = own.map(({ base, ...rest }) => ({
        ...rest,
        path: base + (path === "/" ? "" : path),
        item: paths[base + (path === "/" ? "" : path)],
      }));
      return [path, withOthers(item, others)];
    }),
  );
}

interface Other {
  readonly name: string;
  readonly type: string;
  readonly path: string;
  readonly item: PathItem | undefined;
}

function withOthers(item: PathItem, others: readonly Other[]): PathItem {
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]) => {
      if (method === "additionalOperations") return [method, operation];
      let made = operation;
      for (const { item: other, ...rest } of others) {
        const versioned = other?.[method];
        if (versioned !== undefined) made = withOther(made, versioned, rest);
      }
      return [method, made];
    }),
  );
}

function withOther(
  operation: Operation,
  other: Operation,
  { name, type, path }: Omit<Other, "item">,
): Operation {
  const responses: Record<string, OpenApiResponse | Reference> = { ...operation.responses };
  for (const [status, response] of Object.entries(other.responses)) {
    if ("$ref" in response) continue;
    const json = response.content?.["application/json"];
    if (json === undefined) continue;
    const before = responses[status];
    const known = before === undefined || "$ref" in before ? { description: response.description } : before;
    responses[status] = { ...known, content: { ...known.content, [type]: json } };
  }
  const note = `With \`Accept: ${type}\`: version ${name}, see ${path}.`;
  const text = operation.description ?? operation.summary;
  return { ...operation, description: text === undefined ? note : `${text}\n\n${note}`, responses };
}
