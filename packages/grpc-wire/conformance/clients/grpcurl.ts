import assert from "node:assert/strict";
import { assertZipped, authorityOf, type Client, samples, type Target, Unable } from "../client.ts";
import { goModuleVersion, type Outcome, runTool, startTool, succeed } from "./tool.ts";

interface PrintedNote {
  readonly text?: string;
  readonly payload?: string;
  readonly count?: number;
}

function way(target: Target): string[] {
  if (target.path !== "") return ["-plaintext", "-unix", target.path];
  if (target.transport === "TLS with ALPN") return ["-cacert", target.caFile, authorityOf(target)];
  return ["-plaintext", authorityOf(target)];
}

/** The JSON messages that grpcurl prints one behind the other, each from `{` to `}` at the start of a line. */
function printed<T>(stdout: Buffer): T[] {
  const text = stdout.toString();
  return [...text.matchAll(/^\{\}$|^\{\n[\s\S]*?^\}$/gm)].map(([json]) => JSON.parse(json) as T);
}

/** Rejects unless the call failed with this status. Returns the output of grpcurl. */
function failed({ code, stderr }: Outcome, status: string): string {
  assert.notEqual(code, 0);
  assert.match(stderr, new RegExp(`Code: ${status}$`, "m"), stderr);
  return stderr;
}

/** grpcurl (grpc-go): one call a run. It knows the services by reflection alone. */
export function grpcurl(command: string): Client {
  const limits = ["-max-msg-sz", "16777216"];
  const argsOf = (target: Target, method: string, options: readonly string[] = []) => [
    ...limits,
    ...options,
    "-d",
    "@",
    ...way(target),
    method,
  ];
  const ask = (target: Target, method: string, data: unknown, options: readonly string[] = []) =>
    runTool(command, argsOf(target, method, options), JSON.stringify(data));
  const answers = async <T = PrintedNote>(target: Target, method: string, data: unknown) => {
    const { stdout } = await succeed(command, argsOf(target, method), JSON.stringify(data));
    return printed<T>(stdout);
  };

  const echo = "conformance.Probe/Echo";
  const check = "grpc.health.v1.Health/Check";
  return {
    name: "grpcurl",
    version: async () => {
      const grpcGo = await goModuleVersion(command, "google.golang.org/grpc");
      return `${await goModuleVersion(command, "github.com/fullstorydev/grpcurl")} (grpc-go ${grpcGo})`;
    },
    unable: {},
    trials: {
      unary: async (target) => {
        const note = { text: samples.greeting, payload: samples.raw.toString("base64"), count: 7 };
        assert.deepEqual(await answers(target, echo, note), [note]);
        return undefined;
      },
      concurrent: "makes one call a run",
      deadline: async (target) => {
        const text = target.control.unique();
        const options = ["-max-time", String(samples.deadlineMs / 1000)];
        const outcome = await ask(target, "conformance.Probe/Wait", { text }, options);
        assert.match(outcome.stderr, /DeadlineExceeded|deadline exceeded/);
        return undefined;
      },
      cancel: async (target) => {
        const text = target.control.unique();
        const call = startTool(command, argsOf(target, "conformance.Probe/Wait"), JSON.stringify({ text }));
        await target.control.arrived(text);
        call.end("SIGINT");
        await call.done;
        await target.control.gone(text);
        return "by closing its connection";
      },
      "4 MB both ways": async (target) => {
        const payload = samples.large.toString("base64");
        const [answer] = await answers(target, echo, { payload });
        assert.ok(answer?.payload === payload);
        return undefined;
      },
      "5 MB is RESOURCE_EXHAUSTED": async (target) => {
        const payload = samples.tooLarge.toString("base64");
        failed(await ask(target, echo, { payload }), "ResourceExhausted");
        return undefined;
      },
      "gzip both ways": (target) => {
        const remark = "answers only, over cleartext: it has no option to send gzip";
        if (target.transport !== "cleartext") throw new Unable(remark);
        return target.control.counted(target.control.zipping(), async (counted, traffic) => {
          const payload = samples.zippable.toString("base64");
          const [answer] = await answers(counted, echo, { payload });
          assert.ok(answer?.payload === payload);
          assertZipped({ ...traffic, up: 0 });
          return remark;
        });
      },
      "server streaming": async (target) => {
        const { count, payload } = samples.streamed;
        const notes = await answers(target, "conformance.Probe/Count", {
          count,
          payload: payload.toString("base64"),
        });
        assert.equal(notes.length, count);
        notes.forEach((note, index) => {
          assert.equal(note.count ?? 0, index);
        });
        return undefined;
      },
      "client streaming": async (target) => {
        const { count, payload, text } = samples.summed;
        const note = JSON.stringify({ payload: payload.toString("base64") });
        const { stdout } = await succeed(
          command,
          argsOf(target, "conformance.Probe/Sum"),
          note.repeat(count),
        );
        assert.deepEqual(printed<PrintedNote>(stdout), [{ text, count }]);
        return undefined;
      },
      "bidirectional streaming": async (target) => {
        const notes = Array.from({ length: 100 }, (_, index) => JSON.stringify({ count: index + 1 }));
        const { stdout } = await succeed(command, argsOf(target, "conformance.Probe/Talk"), notes.join("\n"));
        assert.deepEqual(
          printed<PrintedNote>(stdout).map(({ count }) => count),
          notes.map((_, index) => index + 1),
        );
        return undefined;
      },
      "metadata, -bin too": async (target) => {
        const raw = samples.raw.toString("base64");
        const headers = ["-v", "-H", `x-probe-word: ${samples.word}`, "-H", `x-probe-raw-bin: ${raw}`];
        const outcome = await ask(target, echo, {}, headers);
        const text = outcome.stdout.toString();
        const [initial = "", trailing = ""] = text.split("Response trailers received:");
        assert.ok(initial.includes(`x-probe-word: ${samples.word}\n`), text);
        assert.ok(initial.includes(`x-probe-raw-bin: ${raw}`), text);
        assert.ok(trailing.includes(`x-probe-end-word: ${samples.word}\n`), text);
        assert.ok(trailing.includes(`x-probe-end-raw-bin: ${raw}`), text);
        return undefined;
      },
      "status with Unicode": async (target) => {
        const said = failed(
          await ask(target, "conformance.Probe/Fail", { text: samples.failure }),
          "NotFound",
        );
        assert.ok(said.includes(`Message: ${samples.failure}\n`), said);
        return undefined;
      },
      "health Check": async (target) => {
        assert.deepEqual(await answers(target, check, { service: "" }), [{ status: "SERVING" }]);
        failed(await ask(target, check, { service: "nobody knows" }), "NotFound");
        return undefined;
      },
      "health Watch": async (target) => {
        const service = target.control.unique();
        const args = argsOf(target, "grpc.health.v1.Health/Watch");
        const watch = startTool(command, args, JSON.stringify({ service }));
        await watch.until((seen) => printed(seen).length === 1);
        await target.control.setHealth(service, 1);
        await watch.until((seen) => printed(seen).length === 2);
        watch.end("SIGINT");
        const { stdout } = await watch.done;
        assert.deepEqual(printed(stdout), [{ status: "SERVICE_UNKNOWN" }, { status: "SERVING" }]);
        return undefined;
      },
      reflection: async (target) => {
        const list = (await succeed(command, [...way(target), "list"])).stdout.toString().trim().split("\n");
        for (const name of [
          "grpc.health.v1.Health",
          "grpc.reflection.v1.ServerReflection",
          "grpc.reflection.v1alpha.ServerReflection",
          "conformance.Probe",
        ]) {
          assert.ok(list.includes(name), `${name} is not listed: ${list}`);
          const described = await succeed(command, [...way(target), "describe", name]);
          assert.match(described.stdout.toString(), new RegExp(`^${name} is a service:`));
        }
        const described = await succeed(command, [...way(target), "describe", "conformance.Note"]);
        assert.match(described.stdout.toString(), /bytes payload = 2;/);
        return undefined;
      },
    },
  };
}
