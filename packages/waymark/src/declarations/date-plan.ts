import type { DatePlan } from "../client/types/table.ts";
import type { Definitions, MethodSignature, TypeNode } from "../signature/model/signature.ts";

/** Finds the places of dates in return types, and collects the types that contain themselves. */
export class DatePlans {
  readonly types: Record<string, DatePlan> = {};

  /** Undefined without any date. */
  of({ returns, definitions }: MethodSignature): DatePlan | "unknown" | undefined {
    if (returns === undefined || isUnreadable(returns)) return "unknown";
    return this.#plan(returns, definitions, new Map());
  }

  #plan(type: TypeNode, definitions: Definitions, named: Map<string, string>): DatePlan | undefined {
    const plan = (inner: TypeNode | undefined) =>
      inner === undefined ? undefined : this.#plan(inner, definitions, named);
    switch (type.kind) {
      case "date":
        return 1;
      case "union":
        return type.members.map(plan).reduce(either, undefined);
      case "array":
        return eachOf(plan(type.items));
      // The plan of a stream is for its items.
      case "stream":
        return plan(type.items);
      case "tuple":
        return inOf(Object.entries(type.items.map(({ type: item }) => plan(item))), plan(type.rest));
      case "object":
        return inOf(
          type.properties.map(({ name, type: property }) => [name, plan(property)]),
          (type.patterns ?? []).map((one) => plan(one.type)).reduce(either, plan(type.index)),
        );
      case "reference":
        return this.#reference(type.name, definitions, named);
      default:
        return undefined;
    }
  }

  #reference(name: string, definitions: Definitions, named: Map<string, string>): DatePlan | undefined {
    const known = named.get(name);
    if (known !== undefined) return { type: known };
    const type = definitions[name]!;
    if (!hasDate(type, definitions, new Set([name]))) return undefined;
    let free = name;
    for (let count = 2; Object.hasOwn(this.types, free); count++) free = `${name}${count}`;
    named.set(name, free);
    // Reserves the name before the plan refers to it.
    this.types[free] = 1;
    this.types[free] = this.#plan(type, definitions, named)!;
    return { type: free };
  }
}

type MaybePlan = DatePlan | undefined;

function eachOf(each: MaybePlan): MaybePlan {
  return each === undefined ? undefined : { each };
}

function inOf(parts: readonly (readonly [string, MaybePlan])[], each: MaybePlan): MaybePlan {
  // Without dates in the index signature, an absent property needs no plan.
  const dated = parts.filter((part): part is [string, DatePlan] => part[1] !== undefined);
  if (dated.length === 0) return eachOf(each);
  return { in: Object.fromEntries(dated), ...(each !== undefined && { each }) };
}

/** The plan for the members of a union. */
function either(one: MaybePlan, other: MaybePlan): MaybePlan {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  return { any: [one, other] };
}

function hasDate(type: TypeNode, definitions: Definitions, seen: Set<string>): boolean {
  const has = (inner: TypeNode | undefined) => inner !== undefined && hasDate(inner, definitions, seen);
  switch (type.kind) {
    case "date":
      return true;
    case "union":
      return type.members.some(has);
    case "array":
    case "stream":
      return has(type.items);
    case "tuple":
      return type.items.some((item) => has(item.type)) || has(type.rest);
    case "object":
      return [...type.properties, ...(type.patterns ?? [])].some((part) => has(part.type)) || has(type.index);
    case "reference":
      if (seen.has(type.name)) return false;
      seen.add(type.name);
      return has(definitions[type.name]);
    default:
      return false;
  }
}

/** Whether a part of the type could not be read. A date may be there. */
function isUnreadable(type: TypeNode): boolean {
  return type.kind === "union" ? type.members.some(isUnreadable) : type.kind === "unreadable";
}
