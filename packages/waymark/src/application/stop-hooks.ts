import type { ApplicationOptions } from "./options.ts";

/** Runs `onDrain`. Never rejects. */
export async function runOnDrain({ onDrain, warn = console.error }: ApplicationOptions): Promise<void> {
  try {
    await onDrain?.();
  } catch (error) {
    warn(`onDrain failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Runs `onStop` of the application, then that of its parts. */
export async function runOnStop({ onStop, use = [] }: ApplicationOptions): Promise<void> {
  await onStop?.();
  for (const part of use) await part.onStop?.();
}
