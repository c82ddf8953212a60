import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type ConnectionOptions, connect } from "node:tls";
import { credentials } from "@grpc/grpc-js";
import { Authority, type Pair } from "./authority.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const ours = new Authority("ours");
const theirs = new Authority("theirs");
const server = ours.issue("server", "DNS:localhost,IP:127.0.0.1");
const good = ours.issue("client", "DNS:gateway.example,DNS:other.example");
const clients: Record<string, Pair> = {
  "another name": ours.issue("stranger", "DNS:stranger.example"),
  "a certificate that ran out": ours.issue("late", "DNS:gateway.example", -1),
  "another authority's certificate": theirs.issue("theirs", "DNS:gateway.example"),
};
after(() => {
  ours.remove();
  theirs.remove();
});

const config = {
  "d.yaml": "domain: d\ndescriptors:\n  - key: k\n    rate_limit: { unit: day, requests_per_unit: 100 }\n",
};
const serverTls = {
  GRPC_SERVER_USE_TLS: "true",
  GRPC_SERVER_TLS_CERT: server.cert,
  GRPC_SERVER_TLS_KEY: server.key,
};

async function ask(
  tollgate: RunningTollgate,
  channel: ReturnType<typeof credentials.createSsl>,
): Promise<number> {
  const caller = new GrpcCaller(`localhost:${tollgate.grpc.split(":").at(-1)}`, channel, {
    "grpc.use_local_subchannel_pool": 1,
  });
  try {
    return (await caller.ask(request("d", descriptor("k=v", { hitsAddend: 0 })), 3000)).overallCode;
  } finally {
    caller.close();
  }
}

const withPair = ({ keyPem, certPem }: Pair) => credentials.createSsl(ours.pem, keyPem, certPem);

/** The serial number of the certificate that the server shows now. */
function shown(tollgate: RunningTollgate, options: ConnectionOptions = {}): Promise<string> {
  const port = Number(tollgate.grpc.split(":").at(-1));
  return new Promise((resolve, reject) => {
    const socket = connect(
      { port, host: "localhost", ca: ours.pem, ALPNProtocols: ["h2"], ...options },
      () => {
        const { serialNumber } = socket.getPeerCertificate();
        const { alpnProtocol } = socket;
        socket.destroy();
        if (alpnProtocol === "h2") resolve(serialNumber);
        else reject(new Error(`ALPN: ${alpnProtocol}`));
      },
    );
    socket.once("error", reject);
  });
}

describe("TLS on the gRPC port", () => {
  test("GRPC_SERVER_USE_TLS: callers that trust the authority get through, others and older TLS do not", async () => {
    const tollgate = await startTollgate({ config, env: serverTls });
    try {
      assert.equal(await ask(tollgate, credentials.createSsl(ours.pem)), 1);
      await assert.rejects(ask(tollgate, credentials.createSsl(theirs.pem)), { code: 14 });
      await assert.rejects(ask(tollgate, credentials.createInsecure()), { code: 14 });
      await assert.rejects(
        shown(tollgate, { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }),
      );
      await shown(tollgate, { maxVersion: "TLSv1.2" });
      await shown(tollgate, { minVersion: "TLSv1.3" });
    } finally {
      assert.equal((await tollgate.stop()).code, 0);
    }
  });

  for (const workers of ["1", "2"]) {
    test(`GRPC_CLIENT_TLS_CACERT and GRPC_CLIENT_TLS_SAN, WORKERS=${workers}`, async () => {
      const tollgate = await startTollgate({
        config,
        env: {
          ...serverTls,
          GRPC_CLIENT_TLS_CACERT: ours.cert,
          GRPC_CLIENT_TLS_SAN: "gateway.example",
          WORKERS: workers,
        },
      });
      try {
        assert.equal(await ask(tollgate, withPair(good)), 1);
        await assert.rejects(ask(tollgate, credentials.createSsl(ours.pem)), { code: 14 }, "no certificate");
        for (const [name, pair] of Object.entries(clients)) {
          await assert.rejects(ask(tollgate, withPair(pair)), { code: 14 }, name);
        }
        assert.equal(await ask(tollgate, withPair(good)), 1);
      } finally {
        assert.equal((await tollgate.stop()).code, 0);
      }
    });

    test(`a new pair is used from the next handshake on, a bad one is not, WORKERS=${workers}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "tollgate-pair-"));
      const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
      const use = (pair: Pair) => {
        copyFileSync(pair.cert, cert);
        copyFileSync(pair.key, key);
      };
      use(server);
      const env = { ...serverTls, GRPC_SERVER_TLS_CERT: cert, GRPC_SERVER_TLS_KEY: key, WORKERS: workers };
      const tollgate = await startTollgate({ config, env });
      try {
        const first = await shown(tollgate);
        const caller = new GrpcCaller(
          `localhost:${tollgate.grpc.split(":").at(-1)}`,
          credentials.createSsl(ours.pem),
        );
        await caller.ask(request("d", descriptor("k=v")));
        use(ours.issue(`renewed-${workers}`, "DNS:localhost"));
        await tollgate.logged(/TLS: loaded .*tls\.crt and .*tls\.key anew/);
        const renewed = await shown(tollgate);
        assert.notEqual(renewed, first);
        await caller.ask(request("d", descriptor("k=v")));
        caller.close();
        writeFileSync(cert, "nonsense");
        await tollgate.logged(/TLS: the old certificates stay: .*tls\.crt holds no certificate/);
        assert.equal(await shown(tollgate), renewed);
      } finally {
        assert.equal((await tollgate.stop()).code, 0);
        rmSync(folder, { recursive: true });
      }
    });
  }

  test("certificates that cannot be used are a start-up error that names the file", async () => {
    const wrong = { ...serverTls, GRPC_SERVER_TLS_KEY: good.key };
    const tollgate = await startTollgate({ config, env: wrong, unopened: true });
    assert.equal((await tollgate.stop("SIGCONT")).code, 1);
    assert.match(
      tollgate.log.join("\n"),
      /client\.key is not the key of the first certificate in .*server\.pem/,
    );
  });
});
