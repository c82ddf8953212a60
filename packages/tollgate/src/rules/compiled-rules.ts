import type { TextColumns } from "./text-ids.ts";

/**
 * A checked configuration in its compact form: columns of numbers in shared memory. A thread posts it to others without
 * a copy, and they use it in place. {@link NodeTable} reads the nodes, {@link StepTable} the steps.
 */
export interface CompiledRules {
  readonly texts: TextColumns;
  /** {@link NODE} numbers for each node. */
  readonly nodes: Int32Array;
  /** {@link SLOT} numbers for each slot. */
  readonly slots: Int32Array;
  /** {@link FALLBACK} numbers for each level and key that has wildcards or a rule without a value. */
  readonly fallbacks: Int32Array;
  /** Nodes with wildcards. Each fallback has a range of them, most specific first. */
  readonly wildcards: Int32Array;
  /** The number of rules. Counting 100,000 takes 5 ms. */
  readonly size: number;
}

/**
 * The numbers of a node. Nodes are in the order of the configuration, parents before children, domains sorted by name.
 * A domain is a node, too: its parent is the root, number 0.
 */
export const NODE = 10;
export const PARENT = 0;
/** The number after the last node below this one. */
export const END = 1;
/** Texts. The value is 0 for a key-only rule. */
export const KEY = 2;
export const VALUE = 3;
/** The unit of the limit, and the flags below. */
export const FLAGS = 4;
export const REQUESTS = 5;
/** The location: a text; a line, 0 without one; a column, or else the text of a path in an xDS resource, 0 without one. */
export const FILE = 6;
export const LINE = 7;
export const COLUMN = 8;
/** JSON text of the parts of a rule that few rules have: see `RuleDetails`. 0 for none. */
export const DETAILS = 9;

/** The lowest bits of the flags are the unit. */
export const UNIT_MASK = 0xff;
export const HAS_LIMIT = 1 << 8;
export const UNLIMITED = 1 << 9;
export const SHADOW_MODE = 1 << 10;
export const QUOTA_MODE = 1 << 11;
export const DETAILED_METRIC = 1 << 12;
export const VALUE_TO_METRIC = 1 << 13;
export const SHARE_THRESHOLD = 1 << 14;

/** Numbers in one slot of the steps: level, key, value, target. A target of 0 marks a free slot. */
export const SLOT = 4;
/** The value of a slot whose target is a fallback (its index + 1). Values have numbers from 1 on. */
export const NO_VALUE = 0;
/** The value of a slot of level 0, whose target is the node of a domain. */
export const DOMAIN = -1;

/**
 * Numbers in one fallback: the key-only node, or -1; the start and the end of its range of wildcards; 1 if the level has
 * exact values of the key, too.
 */
export const FALLBACK = 4;
export const HAS_EXACT = 3;

/** Hashes the first three numbers of a slot. */
export function hashOfStep(level: number, key: number, value: number): number {
  let mixed = Math.imul(level, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b) ^ Math.imul(value, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
