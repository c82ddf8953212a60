/**
 * Events as AWS sends them, with every field that its sources fill.
 *
 * The values are our own. The fields, their case, their nulls and their encodings follow the public events and
 * reports of: the samples of the Lambda and API Gateway developer guides; the test data of `aws/aws-lambda-go`
 * (`lambda-urls-request`, `apigw-v2-request-*`, `apigw-request`, `apigw-restapi-openapi-request`,
 * `alb-lambda-target-request-*`) and of `lambda_http` in `aws/aws-lambda-rust-runtime` (`lambda_function_url_request`,
 * `apigw_v2_proxy_request_minimal`, `apigw_v2_sam_local`, `apigw_request_path_with_space`, `apigw_no_host`,
 * `alb_health_check`, `alb_*_encoded_query_parameters`).
 */
import type { LambdaEvent } from "@tollway/waymark/lambda";

/** Changes to an event. Undefined removes a field. */
type Changes = Readonly<Record<string, unknown>>;

function event(fields: Changes, changes: Changes): LambdaEvent {
  // As JSON, so that a field without a value is absent.
  return JSON.parse(JSON.stringify({ ...fields, ...changes }));
}

export const URL_HOST = "ab12cd34.lambda-url.eu-central-1.on.aws";
export const API_HOST = "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com";
export const BALANCER_HOST = "board-1234567.eu-central-1.elb.amazonaws.com";
const ADDRESS = "203.0.113.7";

interface V2Changes {
  readonly method?: string;
  readonly stage?: string;
  readonly domainName?: string | undefined;
  readonly headers?: Changes;
}

function v2(host: string, own: V2Changes, changes: Changes): LambdaEvent {
  const { method = "GET", stage = "$default", headers } = own;
  const domainName = "domainName" in own ? own.domainName : host;
  const path = changes.rawPath ?? "/echo";
  return event(
    {
      version: "2.0",
      routeKey: "$default",
      rawPath: path,
      rawQueryString: "",
      headers: {
        accept: "*/*",
        "content-length": "0",
        host: domainName ?? host,
        "user-agent": "curl/8.5.0",
        "x-amzn-trace-id": "Root=1-6526d1a2-0f5d3f2b1c2d3e4f5a6b7c8d",
        "x-forwarded-for": ADDRESS,
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
        ...headers,
      },
      requestContext: {
        accountId: "123456789012",
        apiId: host.split(".")[0],
        domainName,
        domainPrefix: domainName?.split(".")[0],
        http: { method, path, protocol: "HTTP/1.1", sourceIp: ADDRESS, userAgent: "curl/8.5.0" },
        requestId: "JKJaXmPLvHcESHA=",
        routeKey: "$default",
        stage,
        time: "11/Oct/2026:16:45:38 +0000",
        timeEpoch: 1791737138000,
      },
      isBase64Encoded: false,
    },
    changes,
  );
}

/** Payload format 2.0: the path is as the client sent it. */
export function functionUrl(changes: Changes = {}, own: V2Changes = {}): LambdaEvent {
  return v2(URL_HOST, own, changes);
}

/** Payload format 2.0: the path is decoded, and begins with the name of the stage. */
export function httpApi(changes: Changes = {}, own: V2Changes = {}): LambdaEvent {
  return v2(API_HOST, own, changes);
}

interface V1Changes {
  readonly stage?: string;
  readonly domainName?: string;
  /** Headers of several values. Those of one value are in both fields. */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

function v1(
  fields: Changes,
  { stage = "prod", domainName = API_HOST, headers }: V1Changes,
  changes: Changes,
) {
  const several: Record<string, readonly string[]> = {
    accept: ["*/*"],
    Host: [domainName],
    "User-Agent": ["curl/8.5.0"],
    "X-Amzn-Trace-Id": ["Root=1-6526d1a2-0f5d3f2b1c2d3e4f5a6b7c8d"],
    "X-Forwarded-For": [ADDRESS],
    "X-Forwarded-Port": ["443"],
    "X-Forwarded-Proto": ["https"],
    ...headers,
  };
  return event(
    {
      ...fields,
      resource: "/{proxy+}",
      path: "/echo",
      httpMethod: "GET",
      headers: Object.fromEntries(Object.entries(several).map(([name, values]) => [name, values.at(-1)])),
      multiValueHeaders: several,
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: { proxy: "echo" },
      stageVariables: null,
      requestContext: {
        resourceId: "roq9wj",
        resourcePath: "/{proxy+}",
        operationName: "Echo",
        httpMethod: changes.httpMethod ?? "GET",
        extendedRequestId: "JKJaXmPLvHcESHA=",
        requestTime: "11/Oct/2026:16:45:38 +0000",
        path: `/${stage}${changes.path ?? "/echo"}`,
        accountId: "123456789012",
        protocol: "HTTP/1.1",
        stage,
        domainPrefix: domainName.split(".")[0],
        requestTimeEpoch: 1791737138000,
        requestId: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
        identity: {
          cognitoIdentityPoolId: null,
          accountId: null,
          cognitoIdentityId: null,
          caller: null,
          sourceIp: ADDRESS,
          principalOrgId: null,
          accessKey: null,
          cognitoAuthenticationType: null,
          cognitoAuthenticationProvider: null,
          userArn: null,
          userAgent: "curl/8.5.0",
          user: null,
        },
        domainName,
        apiId: "a1b2c3d4e5",
      },
      body: null,
      isBase64Encoded: false,
    },
    changes,
  );
}

/** Payload format 1.0 without a version: the path is as the client sent it, the query is decoded. */
export function restApi(changes: Changes = {}, own: V1Changes = {}): LambdaEvent {
  return v1({}, own, changes);
}

/** Payload format 1.0 of an HTTP API: path and query are decoded. */
export function httpApi1(changes: Changes = {}, own: V1Changes = {}): LambdaEvent {
  return v1({ version: "1.0" }, { stage: "$default", ...own }, changes);
}

const ELB = {
  targetGroupArn: "arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/board/abcdef",
};
const BALANCER_HEADERS = {
  accept: "*/*",
  connection: "keep-alive",
  host: BALANCER_HOST,
  "user-agent": "curl/8.5.0",
  "x-amzn-trace-id": "Root=1-5c34e7d4-00ca239424b68028d4c56d68",
  "x-forwarded-for": ADDRESS,
  "x-forwarded-port": "80",
  "x-forwarded-proto": "http",
};

/** A load balancer: path and query are as the client sent them. Each name has one value. */
export function loadBalancer(changes: Changes = {}, headers: Changes = {}): LambdaEvent {
  return event(
    {
      requestContext: { elb: ELB },
      httpMethod: "GET",
      path: "/echo",
      queryStringParameters: {},
      headers: { ...BALANCER_HEADERS, ...headers },
      body: "",
      isBase64Encoded: false,
    },
    changes,
  );
}

/** A load balancer whose target group has several values enabled. */
export function severalLoadBalancer(
  changes: Changes = {},
  headers: Readonly<Record<string, readonly string[]>> = {},
): LambdaEvent {
  const several = Object.fromEntries(
    Object.entries(BALANCER_HEADERS).map(([name, value]) => [name, [value]]),
  );
  return event(
    {
      requestContext: { elb: ELB },
      httpMethod: "GET",
      path: "/echo",
      multiValueQueryStringParameters: {},
      multiValueHeaders: { ...several, ...headers },
      body: "",
      isBase64Encoded: false,
    },
    changes,
  );
}
