/** The table of cases over function URLs: whole answers, and streamed ones. */
import { describe } from "node:test";
import { type LambdaEvent, type LambdaResult, lambda, streamingLambda } from "@tollway/waymark/lambda";
import { answerOf, eventOf } from "./support/function-url.ts";
import { LambdaStream, withStreaming } from "./support/lambda-stream.ts";
import { runTable } from "./table/run.ts";
import { tableApplication } from "./table/table-application.ts";

const application = tableApplication();
const whole = lambda(application);
const streaming = withStreaming(() => streamingLambda(application)) as (
  event: LambdaEvent,
  stream: object,
) => Promise<void>;

describe("whole answers", () => {
  runTable("lambda", () => async (request) => {
    // As JSON, like the runtime.
    const result = JSON.parse(JSON.stringify(await whole(eventOf(request)))) as LambdaResult;
    return answerOf(result);
  });
});

describe("streamed answers", () => {
  runTable("lambda", () => async (request) => {
    const stream = new LambdaStream();
    const [{ head, bytes }] = await Promise.all([stream.all(), streaming(eventOf(request), stream.facade)]);
    return { ...answerOf({ ...head, body: "", isBase64Encoded: false }), body: bytes };
  });
});
