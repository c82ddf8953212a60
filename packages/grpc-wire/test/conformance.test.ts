/** The clients of others that npm and Debian bring, each with every case that it can, over every transport. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { cases } from "../conformance/client.ts";
import { testClient } from "../conformance/client-report.ts";
import { findClients } from "../conformance/clients.ts";
import { TestBed } from "../conformance/test-bed.ts";

const names = ["@grpc/grpc-js", "@connectrpc/connect-node", "curl", "nghttp", "h2load"];

describe("other projects' clients", () => {
  let bed: TestBed;
  before(async () => {
    bed = await TestBed.start();
  });
  after(() => bed[Symbol.asyncDispose]());

  for (const name of names)
    test(name, async () => {
      const { clients, missing } = await findClients([name]);
      assert.deepEqual(missing, []);
      const { verdicts } = await testClient(bed, clients[0]!);
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
