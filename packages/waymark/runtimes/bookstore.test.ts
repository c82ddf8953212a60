/** The bookstore on each runtime, as source and as a bundle: what its own test runs without a socket. */
import { scenario } from "../../../examples/bookstore/scenario.ts";
import { testExample } from "./example.ts";

await testExample({
  name: "bookstore",
  settings: { BOOKSTORE_TOKEN: "secret" },
  database: "BOOKSTORE_DB",
  lambda: ["lambda", "lambda-stream"],
  scenario,
});
