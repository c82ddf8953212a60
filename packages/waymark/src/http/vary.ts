/** Adds a name to the header `vary` of an answer. */
export function addVary(headers: string[], name: string): void {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === "vary") {
      const names = headers[at + 1]!.split(",").map((each) => each.trim().toLowerCase());
      if (!names.includes(name.toLowerCase()) && !names.includes("*")) headers[at + 1] += `, ${name}`;
      return;
    }
  }
  headers.push("vary", name);
}
