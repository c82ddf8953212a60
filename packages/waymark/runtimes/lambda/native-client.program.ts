/**
 * `--import` of Lambda's runtime interface client: takes the place of its native part, which is built from C++. It has
 * the same three functions, over the same Runtime API. Everything else of the client runs as it is.
 */
import { registerHooks } from "node:module";

const NATIVE = "./rapid-client.node";
const SOURCE = `
const { request } = require("node:http");
const base = "http://" + process.env.AWS_LAMBDA_RUNTIME_API + "/2018-06-01/runtime/invocation/";
let posted = Promise.resolve();

function send(method, path, headers, body) {
  return new Promise((resolve, reject) => {
    const sent = request(base + path, { method, headers }, async (response) => {
      const pieces = [];
      try {
        for await (const piece of response) pieces.push(piece);
        resolve({ bodyJson: Buffer.concat(pieces).toString(), headers: response.headers });
      } catch (error) {
        reject(error);
      }
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

// The native functions return once the Runtime API has the answer.
function post(path, headers, body) {
  posted = posted.then(() => send("POST", path, { "content-type": "application/json", ...headers }, body));
}

exports.next = async () => {
  await posted;
  return send("GET", "next", {});
};
exports.done = (id, body) => post(id + "/response", {}, body);
exports.error = (id, body, xray) =>
  post(id + "/error", { "lambda-runtime-function-xray-error-cause": Buffer.from(xray).toString("base64") }, body);
`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === NATIVE
      ? { url: new URL("rapid-client.cjs", import.meta.url).href, format: "commonjs", shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url.endsWith("/rapid-client.cjs")
      ? { format: "commonjs", source: SOURCE, shortCircuit: true }
      : next(url, context),
});
