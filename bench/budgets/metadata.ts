import { message } from "../support/decision.ts";
import { tollgate } from "../support/peers.ts";
import { type MetadataForm, rawLoad } from "../support/raw-load.ts";
import { type Budget, gateway } from "./budget.ts";
import { medians } from "./compare.ts";

const forms: readonly [MetadataForm | undefined, string][] = [
  [undefined, "none"],
  ["plain", "as octets"],
  ["huffman", "Huffman coded"],
  ["indexed", "Huffman coded and indexed in the dynamic table"],
];

/** Measures 1 KiB of metadata that changes with every request, in each HPACK representation. */
export const metadata: Budget = async ({ rounds, calls }) => {
  const contenders = Object.fromEntries(forms.map(([form, name]) => [name, { start: tollgate(), form }]));
  const bytes = message("path=/api/a,remote_address=192.0.2.1");
  const measured = await medians(contenders, rounds, ({ server, url }, { form }) => {
    const load = {
      ...gateway,
      message: bytes,
      ...(form !== undefined && { metadata: { form, characters: 1024 } }),
    };
    rawLoad(server.pid, url, { ...load, calls: Math.ceil(calls / 4) });
    return rawLoad(server.pid, url, { ...load, calls: Math.ceil(calls / 2) });
  });
  const without = measured.get("none")!.cpuMicroseconds;
  return forms.slice(1).map(([, name]) => {
    const more = measured.get(name)!.cpuMicroseconds - without;
    return {
      budget: `1 KiB of metadata that changes with every request, ${name}: less than 3 us more`,
      figure: `${more.toFixed(2)} us more`,
      baseline: `without: ${without.toFixed(2)} us`,
      met: more < 3,
      reason:
        "`huffmanDecode` takes half of such a call, 2.5 us: each of 780 bytes waits for the state after the one before, some 10 cycles. The text takes 0.3 us. [The hot path](decisions/hot-path.md) has other decoders.",
    };
  });
};
