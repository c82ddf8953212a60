import type { Case } from "./case.ts";
import { answerCases } from "./cases-answers.ts";
import { bodyCases } from "./cases-bodies.ts";
import { controllerCases } from "./cases-controllers.ts";
import { queryCases } from "./cases-query.ts";
import { routingCases } from "./cases-routing.ts";

/** Every row, for every interface. The controllers are those of `test/fixtures/table`. */
export const cases: readonly Case[] = [
  ...routingCases,
  ...queryCases,
  ...bodyCases,
  ...answerCases,
  ...controllerCases,
];
