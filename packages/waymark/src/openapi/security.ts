import type { Operation } from "./document-types.ts";

type SecurityScheme = Readonly<Record<string, string>>;

/** The part of a guard that the document needs. */
export interface DocumentedGuard {
  readonly securityScheme?: SecurityScheme;
  readonly isOptional?: boolean;
  readonly statuses?: readonly number[];
}

/** The statuses of a guard's refusals. A guard without credentials to ask for only has those that it names. */
export function refusalsOf({ securityScheme, statuses }: DocumentedGuard = {}): readonly number[] {
  return statuses ?? (securityScheme === undefined ? [] : [401]);
}

/** The security schemes of the document, from the guards of its operations. */
export class SecuritySchemes {
  readonly #schemes = new Map<string, SecurityScheme>();

  /** The scheme of a guard, as part of an operation. Empty for a guard without a scheme. */
  of(guard: DocumentedGuard | undefined): Pick<Operation, "security"> {
    const scheme = guard?.securityScheme;
    if (scheme === undefined) return {};
    const required = { [this.#nameOf(scheme)]: [] };
    return { security: guard?.isOptional === true ? [required, {}] : [required] };
  }

  get all(): { readonly securitySchemes?: Readonly<Record<string, SecurityScheme>> } {
    return this.#schemes.size === 0 ? {} : { securitySchemes: Object.fromEntries(this.#schemes) };
  }

  /** `bearer`, `jwt`, `session`. Different schemes of one name get a number. */
  #nameOf(scheme: SecurityScheme): string {
    const given = scheme.bearerFormat?.toLowerCase() ?? scheme.name ?? scheme.scheme ?? scheme.type ?? "";
    const base = given.replace(/[^\w.-]/g, "_") || "scheme";
    for (let count = 1; ; count++) {
      const name = count === 1 ? base : `${base}${count}`;
      const taken = this.#schemes.get(name);
      if (taken !== undefined && JSON.stringify(taken) !== JSON.stringify(scheme)) continue;
      this.#schemes.set(name, scheme);
      return name;
    }
  }
}
