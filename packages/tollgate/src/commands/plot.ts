/** Draws columns with the block characters of Unicode, which have eighths. */
const EIGHTHS = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/**
 * Draws a plot: the lines from top to bottom, without the axis of time.
 * @param height lines
 * @param top the value of the full height; at least the greatest value
 */
export function plot(values: readonly number[], height: number, top: number): readonly string[] {
  const eighths = values.map((value) =>
    // A small value is not the same as none.
    value > 0 ? Math.max(1, Math.round((value / top) * height * 8)) : 0,
  );
  return Array.from({ length: height }, (_, row) => {
    const below = (height - 1 - row) * 8;
    return eighths
      .map((own) => EIGHTHS[Math.min(Math.max(own - below, 0), 8)])
      .join("")
      .trimEnd();
  });
}
