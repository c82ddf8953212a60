/** The issue board on each runtime, as source and as a bundle. */
import { scenario } from "../../../examples/issue-board/scenario.ts";
import { testExample } from "./example.ts";

await testExample({
  name: "issue-board",
  settings: { BOARD_SECRET: "a secret of the tests, 32 characters or more", BOARD_PASSWORD_ROUNDS: "1000" },
  database: "BOARD_DB",
  // workerd sometimes does not end a connection whose client has left in the middle of a stream.
  notOnWorkers: ["changes arrive live, and after a break none is missing"],
  scenario,
});
