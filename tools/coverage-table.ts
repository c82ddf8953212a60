/** The coverage of a test run as a table: a line per package, then the files with the lowest coverage. */
import { relative, sep } from "node:path";

/** The coverage that node:test reports for a file. */
export interface FileCoverage {
  readonly path: string;
  readonly totalLineCount: number;
  readonly totalBranchCount: number;
  readonly totalFunctionCount: number;
  readonly coveredLineCount: number;
  readonly coveredBranchCount: number;
  readonly coveredFunctionCount: number;
}

/** Percent. A package below it is marked; the run does not fail. */
const GOAL = 90;
const LEAST_COVERED = 10;

export function coverageTable(files: readonly FileCoverage[], cwd: string): string {
  const packages = Map.groupBy(files, ({ path }) => packageOf(relative(cwd, path)));
  const rows = [...packages]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, group]) => row(name, group, GOAL));
  const least = [...files]
    .sort((a, b) => linePercent([a]) - linePercent([b]) || b.totalLineCount - a.totalLineCount)
    .slice(0, LEAST_COVERED)
    .map((file) => row(relative(cwd, file.path), [file], 0));
  return [
    `${"coverage in percent".padEnd(NAME_WIDTH)}  lines  branches  functions`,
    ...rows,
    "the least covered files",
    ...least,
    "",
  ].join("\n");
}

const NAME_WIDTH = 56;

/** `packages/waymark`, or `tools`. */
function packageOf(path: string): string {
  const [first = "", second = ""] = path.split(sep);
  return first === "packages" ? `${first}/${second}` : first;
}

function row(name: string, files: readonly FileCoverage[], goal: number): string {
  const branches = percent(files, "coveredBranchCount", "totalBranchCount");
  const functions = percent(files, "coveredFunctionCount", "totalFunctionCount");
  const lines = linePercent(files);
  const mark = lines < goal ? `  below the goal of ${goal}` : "";
  return `${name.padEnd(NAME_WIDTH)}  ${cell(lines, 5)}  ${cell(branches, 8)}  ${cell(functions, 9)}${mark}`;
}

function linePercent(files: readonly FileCoverage[]): number {
  return percent(files, "coveredLineCount", "totalLineCount");
}

function percent(
  files: readonly FileCoverage[],
  covered: Exclude<keyof FileCoverage, "path">,
  total: Exclude<keyof FileCoverage, "path">,
): number {
  const sum = (key: Exclude<keyof FileCoverage, "path">) =>
    files.reduce((result, file) => result + file[key], 0);
  return sum(total) === 0 ? 100 : (100 * sum(covered)) / sum(total);
}

function cell(value: number, width: number): string {
  return value.toFixed(1).padStart(width);
}
