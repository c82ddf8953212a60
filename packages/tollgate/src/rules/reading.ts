import type { DiagnosticCode } from "./diagnostic-codes.ts";
import type { Report } from "./report.ts";
import type { Location } from "./rule.ts";
import type { Source } from "./source.ts";
import type { YamlNode } from "./yaml-node.ts";

/**
 * Aliases can make a small file stand for a huge one ("billion laughs"). A file has fewer nodes than characters; with
 * aliases so many more are read.
 */
const MAX_ALIASED_NODES = 200_000;

/** Aliases can also make it deeper than its text is. */
const MAX_DEPTH = 200;

/** One file being read. */
export class Reading {
  readonly source: Source;
  readonly report: Report;
  #left: number;
  #depth = 0;

  constructor(source: Source, report: Report) {
    this.source = source;
    this.report = report;
    this.#left = MAX_ALIASED_NODES + source.text.length;
  }

  /** Counts a node that is about to be read; false when the file stands for too many. */
  visit(node: YamlNode): boolean {
    if (--this.#left >= 0) return true;
    if (this.#left === -1) {
      const message = `aliases make this file stand for more than ${MAX_ALIASED_NODES} nodes beyond its own`;
      this.add("too-many-nodes", node.offset, message);
    }
    return false;
  }

  /** Reads what lies inside a node, unless it is one too many or too deep: then undefined. */
  within<Result>(node: YamlNode, read: () => Result): Result | undefined {
    if (!this.visit(node)) return undefined;
    if (this.#depth >= MAX_DEPTH) {
      this.add("too-deep", node.offset, `nested deeper than ${MAX_DEPTH} levels`);
      return undefined;
    }
    this.#depth++;
    const result = read();
    this.#depth--;
    return result;
  }

  at(offset: number): Location {
    return this.source.locate(offset);
  }

  add(code: DiagnosticCode, offset: number, message: string): void {
    this.report.add(code, this.at(offset), message);
  }
}
