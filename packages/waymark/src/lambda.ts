/** `@tollway/waymark/lambda`: an application as the handler of an AWS Lambda function. */
export type { LambdaEvent, LambdaHandler, LambdaResult } from "./serve/lambda/lambda.ts";
export { lambda, streamingLambda } from "./serve/lambda/lambda.ts";
