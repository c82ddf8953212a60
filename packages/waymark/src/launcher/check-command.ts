import type { Arguments } from "./arguments.ts";
import { applicationOf } from "./load-application.ts";

/**
 * Reads all signatures without serving them, and asks TypeScript's compiler whether it reads every parameter in the
 * same way.
 */
export async function check(args: Arguments): Promise<number> {
  const { classes, notes } = await (await applicationOf(args)).check();
  for (const note of notes) console.error(`note: ${note}`);
  const count = classes.reduce((sum, { verbs }) => sum + verbs.size, 0);
  process.stdout.write(
    `${count} method${count === 1 ? "" : "s"}: the compiler agrees with every signature\n`,
  );
  return 0;
}
