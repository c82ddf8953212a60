/** A Waymark controller that reads a decision's JSON request and returns a response of the same size. */
import { createServer } from "node:http";
import { Application, Controller } from "@tollway/waymark";

const answer = {
  overallCode: "OK",
  statuses: [
    {
      code: "OK",
      currentLimit: { requestsPerUnit: 1_000_000_000, unit: "MINUTE" },
      limitRemaining: 999_999_999,
      durationUntilReset: "30s",
    },
  ],
};

class Json extends Controller {
  async POST() {
    JSON.parse(new TextDecoder().decode(await this.bytes()));
    return answer;
  }
}

const application = new Application({ controllers: { Json } });
await application.ready();
createServer(application.listener).listen(Number(process.env.BENCH_PORT), "127.0.0.1", () =>
  console.log("ready"),
);
