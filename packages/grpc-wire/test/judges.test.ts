/** The clients of others that npm and Debian bring, each with every case that it can, over every transport. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { cases } from "../judge/client.ts";
import { findClients } from "../judge/clients.ts";
import { judge } from "../judge/judge.ts";
import { Stage } from "../judge/stage.ts";

const names = ["@grpc/grpc-js", "@connectrpc/connect-node", "curl", "nghttp", "h2load"];

describe("judged by clients of others", () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.set();
  });
  after(() => stage[Symbol.asyncDispose]());

  for (const name of names)
    test(name, async () => {
      const { clients, missing } = await findClients([name]);
      assert.deepEqual(missing, []);
      const { verdicts } = await judge(stage, clients[0]!);
      const failures = [...verdicts].flatMap(([each, row]) =>
        [...row].flatMap(([transport, verdict]) =>
          verdict.kind === "failed" ? [`${each} over ${transport}: ${verdict.why}`] : [],
        ),
      );
      assert.deepEqual(failures, []);
      const tried = [...verdicts.values()].filter((row) =>
        [...row.values()].some(({ kind }) => kind === "ok"),
      );
      const unable = Object.values(clients[0]!.trials).filter((trial) => typeof trial === "string").length;
      const least = { nghttp: cases.length - 1, h2load: 9 }[name] ?? cases.length - unable;
      assert.ok(unable <= 1 || name === "nghttp" || name === "h2load", `${unable} cases have no trial`);
      assert.ok(tried.length >= least, `${tried.length} of ${cases.length} cases could be tried`);
    });
});
