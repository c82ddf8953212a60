import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { credentials } from "@grpc/grpc-js";
import { scaled } from "../../../tools/time-scale.ts";
import { Authority, type Pair } from "./authority.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const ours = new Authority("ours");
const theirs = new Authority("theirs");
const server = ours.issue("server", "DNS:localhost,IP:127.0.0.1");
const good = ours.issue("client", "DNS:gateway.example,DNS:other.example");
const clients: Record<string, Pair> = {
  "another name": ours.issue("stranger", "DNS:stranger.example"),
  "an expired certificate": ours.issue("late", "DNS:gateway.example", -1),
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

/** The serial number of the server's current certificate. */
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
  test("GRPC_SERVER_USE_TLS: callers that trust the authority connect, others and older TLS versions fail", async () => {
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
        await tollgate.logged(
          /level=warning msg="refused a TLS caller at 127\.0\.0\.1:\d+.*: it presented no certificate/,
        );
      } finally {
        assert.equal((await tollgate.stop()).code, 0);
      }
    });

    test(`a new pair is used from the next handshake on, but an invalid pair is not, WORKERS=${workers}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "tollgate-pair-"));
      const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
      function use(pair: Pair) {
        copyFileSync(pair.cert, cert);
        copyFileSync(pair.key, key);
      }
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
        await tollgate.logged(/TLS: reloaded .*tls\.crt and .*tls\.key/);
        const renewed = await shown(tollgate);
        assert.notEqual(renewed, first);
        await caller.ask(request("d", descriptor("k=v")));
        caller.close();
        writeFileSync(cert, "nonsense");
        await tollgate.logged(
          /TLS: the old certificates stay in use: .*tls\.crt does not contain a PEM certificate.* \(docs: errors\.md#BAD_CERTIFICATES\)/,
        );
        assert.equal(await shown(tollgate), renewed);
      } finally {
        assert.equal((await tollgate.stop()).code, 0);
        rmSync(folder, { recursive: true });
      }
    });
  }

  test("certificates that cannot be used are a startup error that names the file", async () => {
    const wrong = { ...serverTls, GRPC_SERVER_TLS_KEY: good.key };
    const tollgate = await startTollgate({ config, env: wrong, unopened: true });
    assert.equal((await tollgate.stop("SIGCONT")).code, 1);
    assert.match(
      tollgate.log.join("\n"),
      /client\.key is not the key of the first certificate in .*server\.pem/,
    );
  });
});

const httpTls = {
  HTTP_SERVER_USE_TLS: "true",
  HTTP_SERVER_TLS_CERT: server.cert,
  HTTP_SERVER_TLS_KEY: server.key,
};

/** `GET /healthcheck` over TLS: the body, and the serial number of the server's certificate. */
function healthcheck(
  tollgate: RunningTollgate,
  options: RequestOptions = {},
): Promise<{ body: string; serialNumber: string; cipher: string }> {
  return new Promise((resolve, reject) => {
    const call = httpsRequest({
      host: "localhost",
      port: tollgate.http.split(":").at(-1),
      path: "/healthcheck",
      ca: ours.pem,
      agent: new Agent({ keepAlive: false }),
      ...options,
    });
    call.on("error", reject);
    call.on("response", (response) => {
      let body = "";
      const socket = response.socket as TLSSocket;
      const { serialNumber } = socket.getPeerCertificate();
      const cipher = socket.getCipher().name;
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve({ body, serialNumber, cipher }));
    });
    call.end();
  });
}

describe("TLS on the HTTP port", () => {
  test("HTTP_SERVER_USE_TLS: callers that trust the authority connect, others and older TLS versions fail", async () => {
    const tollgate = await startTollgate({ config, env: httpTls });
    try {
      assert.equal((await healthcheck(tollgate)).body, "OK");
      await assert.rejects(healthcheck(tollgate, { ca: theirs.pem }));
      await assert.rejects(fetch(`http://${tollgate.http}/healthcheck`));
      await assert.rejects(
        healthcheck(tollgate, {
          minVersion: "TLSv1.1",
          maxVersion: "TLSv1.1",
          ciphers: "DEFAULT@SECLEVEL=0",
        }),
      );
      for (const ciphers of ["ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA"])
        await assert.rejects(
          healthcheck(tollgate, { maxVersion: "TLSv1.2", ciphers: `${ciphers}:@SECLEVEL=0` }),
          Error,
          ciphers,
        );
      const suite = "ECDHE-ECDSA-AES128-GCM-SHA256";
      assert.equal((await healthcheck(tollgate, { maxVersion: "TLSv1.2", ciphers: suite })).cipher, suite);
      // gRPC has no TLS.
      assert.equal(await ask(tollgate, credentials.createInsecure()), 1);
    } finally {
      assert.equal((await tollgate.stop()).code, 0);
    }
  });

  test("HTTP_CLIENT_TLS_CACERT and HTTP_CLIENT_TLS_SAN", async () => {
    const tollgate = await startTollgate({
      config,
      env: { ...httpTls, HTTP_CLIENT_TLS_CACERT: ours.cert, HTTP_CLIENT_TLS_SAN: "gateway.example" },
    });
    try {
      const as = ({ certPem, keyPem }: Pair) => healthcheck(tollgate, { cert: certPem, key: keyPem });
      assert.equal((await as(good)).body, "OK");
      await assert.rejects(healthcheck(tollgate), Error, "no certificate");
      for (const [name, pair] of Object.entries(clients)) await assert.rejects(as(pair), Error, name);
      await tollgate.logged(/refused a caller: its certificate does not have the DNS name gateway\.example/);
      assert.equal((await as(good)).body, "OK");
    } finally {
      assert.equal((await tollgate.stop()).code, 0);
    }
  });

  test("a new pair is used from the next handshake on", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-pair-"));
    const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    function use(pair: Pair) {
      copyFileSync(pair.cert, cert);
      copyFileSync(pair.key, key);
    }
    use(server);
    const tollgate = await startTollgate({
      config,
      env: { ...httpTls, HTTP_SERVER_TLS_CERT: cert, HTTP_SERVER_TLS_KEY: key },
    });
    try {
      const { serialNumber: first } = await healthcheck(tollgate);
      use(ours.issue("renewed-http", "DNS:localhost"));
      await tollgate.logged(/TLS: reloaded .*tls\.crt and .*tls\.key/);
      const renewed = await healthcheck(tollgate);
      assert.notEqual(renewed.serialNumber, first);
      await assert.rejects(
        healthcheck(tollgate, { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-SHA256:@SECLEVEL=0" }),
      );
    } finally {
      assert.equal((await tollgate.stop()).code, 0);
      rmSync(folder, { recursive: true });
    }
  });

  test("an unfinished handshake does not delay a stop", async () => {
    const tollgate = await startTollgate({
      config,
      env: { ...httpTls, SHUTDOWN_TIMEOUT: `${scaled(1000)}ms` },
    });
    const [host, port] = tollgate.http.split(":");
    const socket = connectTcp({ host: host!, port: Number(port) });
    socket.on("error", () => {});
    await once(socket, "connect");
    const closed = once(socket.resume(), "close");
    assert.equal((await tollgate.stop()).code, 0);
    await closed;
  });

  test("certificates that cannot be used are a startup error that names the file", async () => {
    const wrong = { ...httpTls, HTTP_SERVER_TLS_KEY: good.key };
    const tollgate = await startTollgate({ config, env: wrong, unopened: true });
    assert.equal((await tollgate.stop("SIGCONT")).code, 1);
    assert.match(
      tollgate.log.join("\n"),
      /client\.key is not the key of the first certificate in .*server\.pem/,
    );
  });
});

test("HTTP_ENABLED=false: gRPC serves decisions and health, and there is no HTTP port", async () => {
  const tollgate = await startTollgate({ config, env: { HTTP_ENABLED: "false" } });
  try {
    assert.equal(await ask(tollgate, credentials.createInsecure()), 1);
    assert.equal(
      tollgate.log.some((line) => line.includes("Listening for HTTP")),
      false,
    );
    await tollgate.logged(/the HTTP port is off \(HTTP_ENABLED=false\)/);
    // The debug port is open.
    assert.equal((await fetch(`http://${tollgate.debug}/`)).status, 200);
  } finally {
    assert.equal((await tollgate.stop()).code, 0);
  }
});
