/** Numbers and times as people read them. */

/** A rate: `0`, `0.4`, `12.3`, `1,234`, `56.7k`. */
export function rate(value: number): string {
  if (value === 0) return "0";
  if (value < 0.05) return "<0.1";
  if (value < 100) return trimmed(value.toFixed(1));
  if (value < 10_000) return Math.round(value).toLocaleString("en");
  if (value < 1e6) return `${trimmed((value / 1e3).toFixed(1))}k`;
  return `${trimmed((value / 1e6).toFixed(1))}M`;
}

/** A count, in full. */
export function count(value: number): string {
  return value.toLocaleString("en");
}

export function bytes(value: number): string {
  return value < 1 << 20 ? `${Math.round(value / 1024)} KiB` : `${Math.round(value / (1 << 20))} MiB`;
}

export function milliseconds(value: number): string {
  if (value === 0) return "0 ms";
  return value < 0.1 ? `${Math.round(value * 1000)} µs` : `${trimmed(value.toFixed(value < 10 ? 2 : 0))} ms`;
}

export function percent(part: number, whole: number): string {
  if (whole <= 0) return "0 %";
  const share = (part / whole) * 100;
  return share > 0 && share < 1 ? "<1 %" : `${Math.round(share)} %`;
}

/** `45 s`, `12 min`, `3 h 20 min`, `5 d 2 h`. */
export function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (minutes < 120) return `${minutes} min`;
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function clock(time: number): string {
  return new Date(time).toLocaleTimeString("en-GB");
}

function trimmed(text: string): string {
  return text.replace(/\.0+$/, "");
}
