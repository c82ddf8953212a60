import { escapeControls } from "../../application/log-text.ts";
import type { NodeListener } from "../../serve/node/node-adapter.ts";

/** A listener that also prints a line for each answer when it has ended. For a terminal: without a date. */
export function loggingListener(listener: NodeListener, print: (line: string) => void): NodeListener {
  return (request, response) => {
    const start = performance.now();
    const { method, url } = request;
    response.once("close", () => {
      const time = (performance.now() - start).toFixed(1);
      const cut = response.writableFinished ? "" : ", cut off";
      print(`${method} ${escapeControls(url!)} ${response.statusCode}, ${time} ms${cut}\n`);
    });
    listener(request, response);
  };
}
