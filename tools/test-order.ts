/**
 * The test files that take longest, by the time that they take alone on two cores. They run first: a long file that starts
 * last would run alone, while the other cores have nothing to do.
 */
export const LONGEST = [
  "packages/tollgate/test/counters/kvstore-chaos.test.ts",
  "packages/tollgate/test/packed.test.ts",
  "packages/waymark/test/manual.test.ts",
  "packages/tollgate/test/stores-unavailable.test.ts",
  "packages/tollgate/test/name-memory.test.ts",
  "packages/tollgate/test/lifecycle.test.ts",
  "packages/tollgate/test/reservation-flows.test.ts",
  "packages/waymark/test/python-life.test.ts",
  "packages/tollgate/test/replicas.test.ts",
  "packages/tollgate/test/admin-overrides.test.ts",
  "packages/waymark/test/types-command.test.ts",
  "packages/tollgate/test/rolling-restart.test.ts",
  "packages/tollgate/test/stores.test.ts",
  "packages/tollgate/test/counters/kvstore-cluster.test.ts",
  "packages/tollgate/test/counters/kvstore-connect.test.ts",
  "packages/waymark/test/openapi.test.ts",
  "packages/waymark/test/launcher.test.ts",
  "packages/grpc-wire/test/attacks.test.ts",
  "packages/grpc-wire/test/conformance.test.ts",
] as const;

/** @returns the same files, the longest ones first, and the others in alphabetical order */
export function inOrder(files: readonly string[], longest: readonly string[] = LONGEST): string[] {
  const rank = (file: string) => {
    const index = longest.indexOf(file);
    return index === -1 ? longest.length : index;
  };
  return [...files].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
