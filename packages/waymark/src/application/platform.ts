import type { FormField } from "../http/form.ts";
import type { ModuleEntry, SignatureOf } from "../routing/build-routes.ts";
import type { ApplicationOptions } from "./options.ts";

/** Further tasks of TypeScript's compiler. In each load, it reads the types that the source alone does not show. */
export interface CompilerAsks {
  /** It must agree on the type of every parameter. Default false. */
  readonly verify?: boolean;
  /** It infers the return types that are not written. Default: if the application serves its OpenAPI document. */
  readonly infer?: boolean;
}

/** The results that a load collects, and the tasks of the compiler. */
export interface Gathering extends Required<CompilerAsks> {
  readonly notes: string[];
  readonly origins: string[];
}

/** The modules of an application, before their routes are built. */
export interface Gathered {
  readonly roots: ModuleEntry[];
  readonly signatureOf: SignatureOf;
}

/** A file of the page that shows the OpenAPI document. Undefined for an unknown name. */
export type ViewerFile = (name: string) => Uint8Array | undefined;

/** The functions that a runtime adds to the core. The core itself uses only the features that all runtimes have. */
export interface Platform {
  /** Finds the controllers, and reads what their methods accept. */
  gather(options: ApplicationOptions, gathering: Gathering): Gathered | Promise<Gathered>;
  /** Parses a `multipart/form-data` body. Throws 400 for a malformed one. */
  parseMultipart(bytes: Uint8Array, contentType: string): Promise<FormField[]>;
  /** Name and version of the application, for the OpenAPI document. */
  describePackage(directory: string | undefined): { readonly name?: string; readonly version?: string };
  /** The viewer of the OpenAPI document. Throws if there is none, with the remedy. */
  openViewer(): ViewerFile;
}
