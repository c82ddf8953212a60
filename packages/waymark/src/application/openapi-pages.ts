import { Controller, type ControllerClass } from "../controller/controller.ts";
import { HttpError } from "../http/http-error.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { OpenApiDocument } from "../openapi/document-types.ts";
import { isOpenApiPage } from "../routing/added-pages.ts";
import type { ModuleEntry, SignatureOf } from "../routing/build-routes.ts";
import type { FoundClass } from "../routing/classes.ts";
import type { Routes } from "../routing/routes.ts";
import { StartError } from "../routing/start-error.ts";
import type { MethodSignature } from "../signature/model/signature.ts";
import type { ApplicationOptions, OpenApiOptions } from "./options.ts";
import type { Platform, ViewerFile } from "./platform.ts";

/** The controllers of the document and its page. They are part of the root module. */
export interface Pages {
  readonly classes: readonly FoundClass[];
  readonly signatureOf: SignatureOf;
  /** Sets the routes that the document describes. Called once the routes are known. */
  describe(routes: Routes): void;
}

const LOCATION = { file: "", line: 0, column: 0 };

/** Builds the pages that the options ask for. Undefined if they ask for none. */
export function openApiPages(
  options: ApplicationOptions,
  platform: Platform,
  notes: string[],
): Pages | undefined {
  const { openapi } = options;
  if (openapi === undefined || openapi === false) return undefined;
  const own: OpenApiOptions = openapi === true ? {} : openapi;
  let text = "";
  class Document extends Controller {
    GET() {
      this.response.headers.set("content-type", "application/json; charset=utf-8");
      return new TextEncoder().encode(text);
    }
  }
  const documentSegment = segmentOf("path", own.path ?? "/openapi.json");
  const classes = [foundClass("openapi.json", documentSegment, Document as ControllerClass)];
  const viewer = own.page === false ? undefined : viewerOf(own, platform, notes);
  if (viewer !== undefined) {
    const pageSegment = segmentOf("page", own.page || "/docs");
    classes.push(foundClass("openapi.page", pageSegment, pageClass(viewer, documentSegment, pageSegment)));
  }
  return {
    classes,
    signatureOf: ({ name }, verb) => signature(verb, name === "openapi.page"),
    describe(routes) {
      const described = routes.classes.filter((route) => !isOpenApiPage(route));
      text = JSON.stringify(documentOf({ classes: described }, options, platform));
    },
  };
}

/** The OpenAPI document of an application's routes. */
export function documentOf(
  routes: Pick<Routes, "classes">,
  options: ApplicationOptions,
  platform: Platform,
): OpenApiDocument {
  const own: OpenApiOptions = typeof options.openapi === "object" ? options.openapi : {};
  const described = platform.describePackage(options.directory);
  return openApiDocument(routes, {
    title: own.title ?? described.name ?? "API",
    version: own.version ?? described.version ?? "0.0.0",
    ...(own.description === undefined ? {} : { description: own.description }),
    unknownKeywords: options.unknownKeywords ?? "reject",
    ...(options.versions !== undefined && { versions: options.versions }),
    ...(own.spec !== undefined && { spec: own.spec }),
  });
}

function segmentOf(option: string, path: string): string {
  if (!/^\/[A-Za-z0-9._~-]+$/.test(path))
    throw new StartError(
      "INVALID_OPTION",
      `openapi.${option} must be one segment such as "/docs", not "${path}"`,
    );
  return path.slice(1);
}

function foundClass(name: string, segment: string, controller: ControllerClass): FoundClass {
  const get = controller.prototype as unknown as { GET(): unknown };
  return { name, segment, controller, members: [], verbs: new Map([["GET", get.GET]]) };
}

function signature(verb: string, takesAsset: boolean): MethodSignature {
  const asset = {
    role: "positional",
    name: "asset",
    type: { kind: "string" },
    optional: true,
    location: LOCATION,
  } as const;
  return { verb, parameters: takesAsset ? [asset] : [], location: LOCATION, definitions: {} };
}

/** Adds the pages to the root module. Fails if the application has a class or module at the path of a page. */
export function withPages(roots: readonly ModuleEntry[], pages: Pages): ModuleEntry[] {
  const [first, ...rest] = roots;
  for (const { name, segment } of pages.classes) {
    const taken = [...first!.classes, ...first!.children].find((each) => each.segment === segment);
    if (taken !== undefined)
      throw new StartError(
        "AMBIGUOUS_ROUTE",
        `${taken.name} and ${name} both have the path "/${segment}": choose another`,
      );
  }
  return [{ ...first!, classes: [...first!.classes, ...pages.classes] }, ...rest];
}

const ASSETS: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

/** The viewer of the document. Without one, a page that the options do not name is only a note. */
function viewerOf({ page }: OpenApiOptions, platform: Platform, notes: string[]): ViewerFile | undefined {
  try {
    return platform.openViewer();
  } catch (error) {
    if (page !== undefined) throw error;
    notes.push((error as Error).message);
    return undefined;
  }
}

function pageClass(viewer: ViewerFile, documentSegment: string, pageSegment: string): ControllerClass {
  const script = `SwaggerUIBundle({ url: "/${documentSegment}", dom_id: "#swagger-ui", deepLinking: true });\n`;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>API</title>
<link rel="stylesheet" href="/${pageSegment}/swagger-ui.css">
<link rel="icon" type="image/png" href="/${pageSegment}/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/${pageSegment}/swagger-ui-bundle.js"></script>
<script src="/${pageSegment}/start.js"></script>
</body>
</html>
`;
  class Page extends Controller {
    GET(asset?: string) {
      const { headers } = this.response;
      headers.set("x-content-type-options", "nosniff");
      if (asset === undefined) {
        // The page loads everything from this server, so other hosts do not learn about its readers.
        headers.set(
          "content-security-policy",
          "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
        );
        headers.set("content-type", "text/html; charset=utf-8");
        return html;
      }
      if (asset === "start.js") {
        headers.set("content-type", "text/javascript; charset=utf-8");
        return script;
      }
      if (!Object.hasOwn(ASSETS, asset)) throw new HttpError(404, "the page has no such file");
      headers.set("content-type", ASSETS[asset]!);
      headers.set("cache-control", "max-age=3600");
      return viewer(asset);
    }
  }
  return Page as ControllerClass;
}
