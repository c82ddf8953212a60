import { OWN_STATUSES, REASONS } from "../http/status.ts";
import type { Types, Usage } from "./usage.ts";

/** An import that a bundle can do without. */
export interface Part {
  /** The importing module and the imported one, relative to the sources and without extension. */
  readonly from: string;
  readonly to: string;
  readonly names: readonly string[];
  readonly isUsed: (usage: Usage, types: Types) => boolean;
  /** The bodies of functions in its place. Default: they throw. */
  readonly instead?: Readonly<Record<string, string>>;
}

/** The replacement of a part calls it. */
export const REFUSE = "refuse();";

const REFUSE_STREAM = `const [value] = arguments; if (Symbol.asyncIterator in value || (Symbol.iterator in value && "next" in value)) { ${REFUSE} }`;

export const COMPILE = "signature/convert/compile";
const REFINEMENTS = "signature/convert/refinements";

function refinementPart(from: string, names: readonly string[]): Part {
  return { from, to: REFINEMENTS, names, isUsed: (_, { hasRefinements }) => hasRefinements };
}

const readsBody = ({ routes }: Usage): boolean =>
  routes.classes.some(({ verbs }) => [...verbs.values()].some(({ binder }) => binder.readsBody));

const takesArguments = ({ routes }: Usage): boolean =>
  routes.classes.some(({ verbs }) =>
    [...verbs.values()].some(({ signature }) => signature.parameters.length > 0),
  );

const hasSchemas = ({ routes }: Usage): boolean =>
  routes.classes.some(({ controller }) => controller.schema !== undefined);

const readsCookies = ({ code }: Usage): boolean => /cookie/i.test(code);

/** Only these give a hook or a method a `Response` to return or to throw. A module that the platform provides may, too. */
const RESPONSES = /Response|fetch|redirect|problem|caches|\bfrom"(?!@tollway)|\bimport\(/;

const sendsStreams = ({ code }: Usage, { returnsStreams }: Types): boolean =>
  returnsStreams || RESPONSES.test(code);

function streamPart(from: string, to: string, instead: Readonly<Record<string, string>>): Part {
  return { from, to: `http/${to}`, names: Object.keys(instead), isUsed: sendsStreams, instead };
}

function eventsPart(from: string): Part {
  return streamPart(from, "event-streams", { EventStreams: "this.close = this.reopen = () => {};" });
}

/** The manifest of a bundle has the classes themselves. */
function manifestPart(from: string): Part {
  return {
    from,
    to: "routing/manifest",
    names: ["manifestEntries"],
    isUsed: ({ isLinked }) => !isLinked,
    instead: {
      manifestEntries: `if (arguments[0].linked === undefined) { ${REFUSE} } return arguments[0].linked;`,
    },
  };
}

const hasDocument = ({ options }: Usage): boolean =>
  options.openapi !== undefined && options.openapi !== false;

const hasCors = ({ options }: Usage): boolean => options.cors !== undefined;

const hasVersions = ({ options }: Usage): boolean => options.versions !== undefined;

const observes = ({ options: { onRequest, onAnswer, onEnd, use } }: Usage): boolean =>
  [onRequest, onAnswer, onEnd, use].some((option) => option !== undefined);

export const PARTS: readonly Part[] = [
  {
    from: "application/load-routes",
    to: "application/documented-routes",
    names: ["documentedRoutes"],
    isUsed: hasDocument,
  },
  {
    from: "application/web-platform",
    to: "application/no-viewer",
    names: ["openViewer"],
    isUsed: hasDocument,
  },
  {
    from: "application/application",
    to: "application/observe",
    names: ["observe", "observersOf"],
    isUsed: observes,
    instead: {
      observersOf: `if (arguments[0].length > 1 || Object.keys(arguments[0][0]).length > 0) { ${REFUSE} }`,
    },
  },
  { from: "application/application", to: "controller/exchange", names: ["Exchange"], isUsed: observes },
  { from: "application/application", to: "application/versions", names: ["Versions"], isUsed: hasVersions },
  { from: "application/application", to: "http/vary", names: ["addVary"], isUsed: hasVersions },
  {
    from: "application/load-routes",
    to: "application/versions",
    names: ["checkVersions"],
    isUsed: hasVersions,
  },
  {
    from: "application/application",
    to: "application/options",
    names: ["checkOptions", "partsOf"],
    isUsed: ({ hasOptions }) => hasOptions,
    instead: { checkOptions: "", partsOf: "return [{}];" },
  },
  {
    from: "application/perform",
    to: "application/hooks",
    names: ["performWithHooks"],
    isUsed: ({ options, routes }) =>
      options.before !== undefined ||
      options.after !== undefined ||
      routes.classes.some(
        ({ hooks, controller }) => hooks.before || hooks.after || controller.guard !== undefined,
      ),
  },
  {
    from: "application/failure",
    to: "application/error-hooks",
    names: ["hookAnswer"],
    isUsed: ({ options, routes }) =>
      options.onError !== undefined || routes.classes.some(({ hooks }) => hooks.onError),
  },
  {
    from: "application/failure",
    to: "application/shown-error",
    names: ["shownError"],
    isUsed: ({ options }) => options.debug !== undefined,
  },
  {
    from: "application/log-text",
    to: "application/inspected",
    names: ["inspected"],
    isUsed: ({ hasNode }) => hasNode,
    instead: { inspected: "" },
  },
  {
    from: "application/hooks",
    to: "application/after",
    names: ["afterwards"],
    isUsed: ({ options, routes }) =>
      options.after !== undefined || routes.classes.some(({ hooks }) => hooks.after),
    instead: {
      afterwards: `if (arguments[0].route.hooks.after || arguments[2].after !== undefined) { ${REFUSE} } return arguments[1];`,
    },
  },
  {
    from: "http/http-error",
    to: "http/status",
    names: ["reasonOf"],
    isUsed: ({ code }) => /\b(?:HttpError|problem)\b/.test(code),
    instead: {
      reasonOf: `return ${JSON.stringify(Object.fromEntries(OWN_STATUSES.map((own) => [own, REASONS[own]])))}[arguments[0]];`,
    },
  },
  { from: "http/call", to: "http/cookies", names: ["cookiesOf"], isUsed: readsCookies },
  {
    from: "controller/controller",
    to: "http/set-cookie",
    names: ["deleteCookieHeader", "setCookieHeader"],
    isUsed: readsCookies,
  },
  {
    from: "http/call",
    to: "http/proxy",
    names: ["originOf"],
    isUsed: ({ code }) => /remoteAddress|isSecure|cookie/i.test(code),
  },
  {
    from: "controller/controller",
    to: "http/uri",
    names: ["uriReference"],
    isUsed: ({ code }) => code.includes("redirect"),
  },
  streamPart("http/to-answer", "response-answer", { responseAnswer: REFUSE }),
  streamPart("http/to-answer", "blob-answer", { blobAnswer: REFUSE }),
  streamPart("http/to-answer", "stream", { streamAnswer: REFUSE }),
  streamPart("http/to-answer", "body-source", { sourceOf: REFUSE_STREAM }),
  streamPart("http/stringify", "body-source", { sourceOf: REFUSE_STREAM }),
  // A thrown stream is not sent either way.
  streamPart("application/failure", "body-source", { sourceOf: "" }),
  {
    from: "serve/fetch-adapter",
    to: "serve/fetch-stream",
    names: ["streamOf"],
    isUsed: sendsStreams,
  },
  {
    from: "http/call",
    to: "http/request",
    names: ["requestOf"],
    isUsed: ({ code }) => /\brequest\b/.test(code),
  },
  {
    from: "http/call",
    to: "http/headers",
    names: ["RequestHeaders"],
    isUsed: ({ code }) => /\bheaders\b/.test(code),
  },
  eventsPart("application/application"),
  eventsPart("application/load-routes"),
  streamPart("application/hooks", "response-answer", { responseAnswer: REFUSE }),
  streamPart("application/failure", "response-answer", { responseAnswer: REFUSE }),
  streamPart("application/error-hooks", "response-answer", { responseAnswer: REFUSE }),
  {
    from: "application/options",
    to: "http/cors",
    names: ["checkCors"],
    isUsed: hasCors,
  },
  {
    from: "application/application",
    to: "http/cors",
    names: ["addCors"],
    isUsed: hasCors,
  },
  {
    from: "application/application",
    to: "application/preflight",
    names: ["answerPreflight"],
    isUsed: hasCors,
  },
  {
    from: "application/application",
    to: "application/stop-hooks",
    names: ["runOnDrain", "runOnStop"],
    isUsed: ({ options: { onDrain, onStop, use } }) =>
      [onDrain, onStop, use].some((each) => each !== undefined),
    instead: {
      runOnStop: `if (arguments[0].onStop !== undefined || arguments[0].use !== undefined) { ${REFUSE} }`,
    },
  },
  // A WHATWG request has a URL: its target is a path. Only workerd also passes on an asterisk.
  { from: "http/target", to: "http/authority", names: ["authorityOf"], isUsed: ({ isFetch }) => !isFetch },
  {
    from: "application/web-platform",
    to: "application/gather-table",
    names: ["gatherTable"],
    isUsed: ({ isLinked }) => !isLinked,
  },
  manifestPart("application/web-platform"),
  manifestPart("application/node/node-platform"),
  { from: "application/web-platform", to: "http/form-data", names: ["formData"], isUsed: readsBody },
  {
    from: "application/parsed-body",
    to: "http/json",
    names: ["decodeUtf8", "parseUnchecked", "refuseUnsafe"],
    isUsed: readsBody,
  },
  {
    from: "signature/bind/binder",
    to: "signature/bind/schema-runner",
    names: ["anyKeywords", "assignSchemaRoles", "compileSchemas"],
    isUsed: hasSchemas,
    instead: {
      assignSchemaRoles: "return arguments[0];",
      compileSchemas: `if (Object.keys(arguments[1]).length === 0) return undefined; ${REFUSE}`,
    },
  },
  {
    // A build has checked the routes that are linked.
    from: "routing/build-routes",
    to: "routing/check-routes",
    names: ["checkSchema", "checkUnknownKeywords", "claim", "hide"],
    isUsed: ({ isLinked }) => !isLinked,
    instead: {
      checkSchema: "",
      checkUnknownKeywords: "",
      claim: "arguments[0].set(arguments[1], arguments[2]);",
      hide: "",
    },
  },
  {
    from: "routing/build-routes",
    to: "routing/guard-for",
    names: ["guardFor"],
    isUsed: ({ routes }) => routes.classes.some(({ controller }) => controller.guard !== undefined),
    instead: { guardFor: `if (arguments[0].controller.guard !== undefined) { ${REFUSE} }` },
  },
  {
    from: "routing/build-routes",
    to: "signature/project/projection",
    names: ["compileProjection"],
    // An option that switches it off may depend on the environment.
    isUsed: ({ routes, options }) =>
      options.projection === false ||
      routes.classes.some(({ verbs }) => [...verbs.values()].some(({ project }) => project !== undefined)),
    instead: { compileProjection: "return undefined;" },
  },
  {
    from: "signature/bind/binder",
    to: "signature/model/list-body",
    names: ["listBodyParameter"],
    isUsed: (_, { kinds }) => kinds.has("array") || kinds.has("tuple"),
    instead: { listBodyParameter: "" },
  },
  {
    from: "signature/bind/keywords",
    to: "signature/convert/other-names",
    names: ["otherNames"],
    isUsed: (_, { hasOtherNames }) => hasOtherNames,
    instead: { otherNames: "" },
  },
  {
    from: "signature/bind/binder",
    to: "signature/bind/rest",
    names: ["bindRest", "compileRest"],
    isUsed: ({ routes }) =>
      routes.classes.some(({ verbs }) =>
        [...verbs.values()].some(({ binder }) => binder.maximum === Number.POSITIVE_INFINITY),
      ),
    instead: { compileRest: "" },
  },
  {
    from: "signature/bind/binder",
    to: COMPILE,
    names: ["typeCompiler"],
    isUsed: takesArguments,
    instead: { typeCompiler: "return { numbers: {}, outcomes: { clear() {} } };" },
  },
  {
    from: "signature/bind/binder",
    to: "signature/bind/keywords",
    names: ["compileKeywords", "makeKeywords"],
    isUsed: takesArguments,
  },
  {
    // It makes requests faster, but not smaller. A worker must be small.
    from: "signature/bind/binder",
    to: "signature/bind/whole-body",
    names: ["compileWholeBody"],
    isUsed: (usage) => usage.hasNode && readsBody(usage),
    instead: { compileWholeBody: "" },
  },
  {
    from: "signature/bind/binder",
    to: "signature/bind/keyword-object",
    names: ["convertGiven", "takeNotes"],
    isUsed: takesArguments,
  },
  {
    from: "application/perform",
    to: "application/parsed-body",
    names: ["parseBody"],
    isUsed: readsBody,
  },
  {
    from: "application/load-routes",
    to: "application/parsed-body",
    names: ["collectKeywords"],
    isUsed: ({ code }) => code.includes("keywords"),
  },
  {
    from: "signature/bind/keywords",
    to: "signature/bind/keyword-unions",
    names: ["makeUnion"],
    isUsed: (_, { kinds }) => kinds.has("union"),
  },
  {
    from: "signature/bind/keywords",
    to: "signature/convert/unions",
    names: ["findDiscriminator"],
    isUsed: (_, { kinds }) => kinds.has("union"),
  },
  {
    from: "signature/bind/binder",
    to: "signature/convert/raw",
    names: ["RAW"],
    isUsed: hasSchemas,
  },
  {
    from: COMPILE,
    to: "signature/convert/outcomes",
    names: ["Outcomes"],
    isUsed: (_, { kinds }) => kinds.has("union") || kinds.has("reference"),
    instead: { Outcomes: "this.clear = () => {};" },
  },
  {
    from: COMPILE,
    to: "signature/convert/checked",
    names: ["checkedConverter"],
    isUsed: (_, { hasRefinements }) => hasRefinements,
  },
  refinementPart("signature/convert/lists", ["listCheck"]),
  refinementPart("signature/convert/other-names", ["stringCheck"]),
  {
    from: "signature/convert/dates",
    to: "signature/convert/formats",
    names: ["FORMATS"],
    isUsed: (_, { hasRefinements }) => hasRefinements,
  },
];
