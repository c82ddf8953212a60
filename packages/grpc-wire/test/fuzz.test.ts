/** The short run of the fuzz; `npm run fuzz` is the long one. */
import { test } from "node:test";
import { properties } from "../fuzz/properties.ts";

for (const { name, shortRuns, check } of properties) test(name, () => check({ numRuns: shortRuns }));
