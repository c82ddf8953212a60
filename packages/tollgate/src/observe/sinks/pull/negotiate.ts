import type { ExpositionFormat } from "./exposition.ts";

/** Selects the format by the `Accept` header (RFC 9110, 12.5.1). Text, unless the header prefers OpenMetrics 1.0. */
export function negotiate(accept: string | undefined): ExpositionFormat {
  if (accept === undefined) return "text";
  let open = 0;
  let text = 0;
  let any = 0;
  for (const range of accept.split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const of = (name: string): string | undefined =>
      parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
    const q = Number(of("q") ?? 1);
    const weight = q >= 0 && q <= 1 ? q : 0;
    const version = of("version");
    if (type === "application/openmetrics-text" && (version === undefined || version === "1.0.0"))
      open = Math.max(open, weight);
    else if (type === "text/plain" && (version === undefined || version === "0.0.4"))
      text = Math.max(text, weight);
    else if (type === "text/*" || type === "*/*") any = Math.max(any, weight);
  }
  return open > 0 && open >= Math.max(text, any) ? "openmetrics" : "text";
}
