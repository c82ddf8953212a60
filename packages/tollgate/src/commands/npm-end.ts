import { readFileSync } from "node:fs";

/** Milliseconds between checks. */
const INTERVAL = 250;

/**
 * Calls `onEnd` when the npm that started this process has ended. npm runs a command through a shell and passes its
 * signals to that shell only. The shell ends and leaves its command running, or waits for its command without npm.
 */
export function onNpmEnd(onEnd: () => void): void {
  const before = npmAndShell();
  if (process.ppid === 1) return;
  const timer = setInterval(() => {
    if (npmAndShell() === before) return;
    clearInterval(timer);
    onEnd();
  }, INTERVAL);
  timer.unref();
}

/** The process ids of the parent and, if that is a shell on a system with `/proc`, of the shell's parent. */
function npmAndShell(): string {
  const shell = process.ppid;
  try {
    const [, name, parent] =
      /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${shell}/stat`, "latin1")) ?? [];
    return name?.endsWith("sh") ? `${shell} ${parent}` : String(shell);
  } catch {
    return String(shell);
  }
}
