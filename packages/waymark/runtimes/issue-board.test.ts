/** The issue board on each runtime, as source, and as a bundle by the commands of its README. */
import { scenario } from "../../../examples/issue-board/scenario.ts";
import { testExample } from "./example.ts";

await testExample({
  name: "issue-board",
  settings: { BOARD_SECRET: "a secret of the tests, 32 characters or more" },
  faster: { BOARD_PASSWORD_ROUNDS: "1000" },
  database: "BOARD_DB",
  // Event streams have no end, so they need streamed answers.
  lambda: ["lambda-stream"],
  isDocumented: true,
  scenario,
});
