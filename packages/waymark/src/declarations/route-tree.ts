import { isOpenApiPage } from "../routing/added-pages.ts";
import type { RouteClass, RouteModule, Routes } from "../routing/routes.ts";

/** The controllers of an application by the properties that lead to them. */
export interface RouteNode {
  readonly route: RouteClass | undefined;
  readonly children: ReadonlyMap<string, RouteNode>;
}

interface Building {
  route: RouteClass | undefined;
  readonly children: Map<string, Building>;
}

/** Joins the trees of all prefixes. If two have a class of the same path, the earlier one serves it. */
export function routeTree({ roots }: Pick<Routes, "roots">): RouteNode {
  const top: Building = { route: undefined, children: new Map() };
  for (const root of roots) addModule(top, root);
  return top;
}

function addModule(node: Building, { children, classes, fallback }: RouteModule): void {
  for (const [segment, child] of children) addModule(childOf(node, segment), child);
  for (const [segment, route] of classes) if (!isOpenApiPage(route)) addClass(childOf(node, segment), route);
  node.route ??= fallback;
}

function addClass(node: Building, route: RouteClass): void {
  node.route ??= route;
  for (const [segment, member] of route.members) addClass(childOf(node, segment), member);
}

function childOf(node: Building, segment: string): Building {
  const property = segment.replaceAll("-", "_");
  let child = node.children.get(property);
  if (child === undefined) {
    child = { route: undefined, children: new Map() };
    node.children.set(property, child);
  }
  return child;
}
