import type { DiagnosticCode } from "./diagnostic-codes.ts";
import type { Report } from "./report.ts";
import type { Location } from "./rule.ts";
import type { Source } from "./source-text.ts";
import type { YamlNode } from "./yaml-node.ts";

/**
 * Maximum nodes that aliases add to a file. Aliases can expand a small file to a huge one ("billion laughs"). Without
 * them a file has fewer nodes than characters.
 */
const MAX_ALIASED_NODES = 200_000;

/** Maximum depth. Aliases can nest deeper than the text does. */
const MAX_DEPTH = 200;

/** The state of reading one file: its source, its report and its bounds. */
export class ReadingState {
  readonly source: Source;
  readonly report: Report;
  #left: number;
  #depth = 0;

  constructor(source: Source, report: Report) {
    this.source = source;
    this.report = report;
    this.#left = MAX_ALIASED_NODES + source.text.length;
  }

  /** Counts a node before it is read. Returns false if the file has too many nodes. */
  visit(node: YamlNode): boolean {
    if (--this.#left >= 0) return true;
    if (this.#left === -1) {
      const message = `aliases add more than ${MAX_ALIASED_NODES} nodes to this file: use fewer aliases`;
      this.add("too-many-nodes", node.offset, message);
    }
    return false;
  }

  /** Calls `read` for the content of a node. Returns undefined if there are too many nodes or they are too deep. */
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
