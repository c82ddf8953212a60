/** TLS: ALPN, client certificates, replaced certificates, handshakes that never end. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { after, describe, test } from "node:test";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import grpc from "@grpc/grpc-js";
import { scaled } from "../../../tools/time-scale.ts";
import { GrpcServer, type RefusedPeer, type ServerOptions } from "../src/index.ts";
import { Authority } from "./support/certificates.ts";
import { preface, settings } from "./support/raw-client.ts";

const bytes = (value: Buffer) => value;
const authority = new Authority("right");
const stranger = new Authority("wrong");
const localhost = authority.issue("localhost");
const rsa = authority.issue("localhost", "rsa");
const alice = authority.issue("alice");
const mallory = stranger.issue("alice");
after(() => {
  authority.remove();
  stranger.remove();
});

async function start(options: ServerOptions) {
  const server = new GrpcServer(options)
    .unary("/t.T/Echo", (message) => message)
    .unary("/t.T/Who", (_message, call) => Buffer.from(String(call.peerCertificate?.subject.CN ?? "nobody")));
  const bound = await server.listen({ port: 0 });
  if (bound.kind !== "tcp") throw new Error("no port");
  return { server, port: bound.port, [Symbol.asyncDispose]: () => server.close() };
}

function call(
  port: number,
  credentials: grpc.ChannelCredentials,
  method = "Echo",
  message = Buffer.from("hello"),
) {
  const client = new grpc.Client(`localhost:${port}`, credentials);
  return new Promise<string>((resolve, reject) => {
    client.makeUnaryRequest(
      `/t.T/${method}`,
      bytes,
      bytes,
      message,
      { deadline: Date.now() + scaled(5000) },
      (error: Error | null, answer?: Buffer) => {
        client.close();
        if (error) reject(error);
        else resolve(String(answer));
      },
    );
  });
}

function handshake(
  port: number,
  options: ConnectionOptions,
): Promise<{ socket: TLSSocket; error: Error | undefined }> {
  const socket = connect({ port, host: "127.0.0.1", ca: authority.ca, servername: "localhost", ...options });
  return new Promise((resolve) => {
    socket.once("secureConnect", () => resolve({ socket, error: undefined }));
    socket.once("error", (error) => resolve({ socket, error }));
  });
}

/** Waits for a condition. */
async function until(done: () => boolean): Promise<void> {
  const latest = performance.now() + scaled(10_000);
  while (!done()) {
    assert.ok(performance.now() < latest, "the condition is not met in time");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("TLS", () => {
  test("a call over TLS, small and large", async () => {
    await using it = await start({ tls: localhost });
    const credentials = grpc.credentials.createSsl(authority.ca);
    assert.equal(await call(it.port, credentials), "hello");
    const large = Buffer.alloc(2_000_000, "t");
    assert.equal((await call(it.port, credentials, "Echo", large)).length, large.length);
    assert.equal(await call(it.port, credentials, "Who"), "nobody");
  });

  test("negotiates h2 only, and requires ALPN", async () => {
    await using it = await start({ tls: localhost });
    const good = await handshake(it.port, { ALPNProtocols: ["http/1.1", "h2"] });
    assert.equal(good.socket.alpnProtocol, "h2");
    good.socket.destroy();
    const wrong = await handshake(it.port, { ALPNProtocols: ["http/1.1"] });
    assert.ok(wrong.error);
    const silent = await handshake(it.port, {});
    silent.socket.resume();
    await once(silent.socket, "close");
  });

  test("refuses TLS 1.1, and TLS 1.2 when minVersion is 1.3", async () => {
    await using modern = await start({ tls: { ...localhost, minVersion: "TLSv1.3" } });
    const old = await handshake(modern.port, { maxVersion: "TLSv1.2", ALPNProtocols: ["h2"] });
    assert.ok(old.error);
    await using usual = await start({ tls: localhost });
    const older = await handshake(usual.port, {
      minVersion: "TLSv1.1",
      maxVersion: "TLSv1.1",
      ALPNProtocols: ["h2"],
    });
    assert.ok(older.error);
  });

  test("accepts client certificates of the configured authority that verifyPeer accepts", async () => {
    const tls = { ...localhost, ca: authority.ca, requestCert: true };
    await using it = await start({ tls });
    const { ca } = authority;
    assert.equal(await call(it.port, grpc.credentials.createSsl(ca, alice.key, alice.cert), "Who"), "alice");
    await assert.rejects(call(it.port, grpc.credentials.createSsl(ca, mallory.key, mallory.cert)));
    await assert.rejects(call(it.port, grpc.credentials.createSsl(ca)));
    await using picky = await start({ tls: { ...tls, verifyPeer: ({ subject }) => subject.CN === "bob" } });
    await assert.rejects(call(picky.port, grpc.credentials.createSsl(ca, alice.key, alice.cert)));
  });

  test("reports each refused caller with its address, the reason and its subject", async () => {
    const refused: RefusedPeer[] = [];
    const tls = { ...localhost, ca: authority.ca, requestCert: true };
    await using it = await start({
      tls: { ...tls, verifyPeer: ({ subject }) => subject.CN === "bob" },
      onRefusedPeer: (one) => refused.push(one),
    });
    const [trusted, untrusted] = [
      { cert: alice.cert, key: alice.key },
      { cert: mallory.cert, key: mallory.key },
    ];
    const bob = authority.issue("bob");
    const h2 = { ALPNProtocols: ["h2"] };
    const cases: [ConnectionOptions, reason: RegExp, subject: string | undefined][] = [
      [{ ...h2, ...trusted }, /^`verifyPeer` does not accept its certificate$/, "CN=alice"],
      [{ ...h2, ...untrusted }, /^its certificate is not trusted \([A-Z_]+\)$/, "CN=alice"],
      [h2, /^it presented no certificate$/, undefined],
      [{ cert: bob.cert, key: bob.key }, /^it did not negotiate h2 by ALPN$/, "CN=bob"],
      [{ ...trusted, ALPNProtocols: ["http/1.1"] }, /^it did not offer h2 by ALPN$/, undefined],
      [
        { ...h2, maxVersion: "TLSv1.1", minVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" },
        /^ERR_SSL_UNSUPPORTED_PROTOCOL$/,
        undefined,
      ],
    ];
    for (const [options, reason, subject] of cases) {
      const before = refused.length;
      const { socket } = await handshake(it.port, { checkServerIdentity: () => undefined, ...options });
      await until(() => refused.length > before);
      socket.destroy();
      const last = refused.at(-1)!;
      assert.match(last.reason, reason);
      assert.match(last.peer, /^127\.0\.0\.1:\d+$/);
      assert.equal(last.subject, subject);
    }
    // A connection without a handshake is not reported.
    const plain = connectTcp(it.port, "127.0.0.1");
    await once(plain, "connect");
    plain.end();
    await once(plain.resume(), "close");
    const { socket } = await handshake(it.port, { ...h2, checkServerIdentity: () => undefined });
    await until(() => refused.length > cases.length);
    socket.destroy();
    assert.equal(refused.length, cases.length + 1);
  });

  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const)
    for (const [name, client] of [
      ["no certificate", {}],
      ["a certificate of another authority", { cert: mallory.cert, key: mallory.key }],
    ] as const)
      test(`a resumed session does not make up for ${name}, ${maxVersion}`, async () => {
        const refused: RefusedPeer[] = [];
        await using it = await start({
          tls: { ...localhost, ca: authority.ca, requestCert: true },
          onRefusedPeer: (one) => refused.push(one),
        });
        let session: Buffer | undefined;
        for (let attempt = 1; attempt <= 3; attempt++) {
          const { socket } = await handshake(it.port, {
            ...client,
            maxVersion,
            ALPNProtocols: ["h2"],
            checkServerIdentity: () => undefined,
            ...(session !== undefined && { session }),
          });
          socket.on("session", (next: Buffer) => {
            session = next;
          });
          socket.resume().on("error", () => {});
          await until(() => refused.length === attempt);
          if (!socket.destroyed) await once(socket, "close");
        }
        assert.equal(refused.length, 3);
      });

  test("a replaced certificate applies to new connections, and an invalid one changes nothing", async () => {
    await using it = await start({ tls: localhost });
    const subject = async () => {
      const { socket } = await handshake(it.port, {
        ALPNProtocols: ["h2"],
        checkServerIdentity: () => undefined,
      });
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      return CN;
    };
    assert.equal(await subject(), "localhost");
    it.server.setSecureContext(authority.issue("renewed"));
    assert.equal(await subject(), "renewed");
    assert.throws(() => it.server.setSecureContext({ cert: localhost.cert, key: alice.key }));
    assert.throws(() => it.server.setSecureContext({ cert: "no PEM", key: "no PEM" }));
    assert.equal(await subject(), "renewed");
    assert.throws(() => new GrpcServer().setSecureContext(localhost), /no tls option/);
  });

  test("closes connections with an endless handshake", async () => {
    await using it = await start({ tls: localhost, connection: { handshakeTimeoutMs: 100 } });
    const socket = connectTcp({ port: it.port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.resume();
    await once(socket, "close");
    assert.equal(it.server.counts().connections, 0);
  });

  test("invalid bytes instead of a handshake end that connection only", async () => {
    await using it = await start({ tls: localhost });
    const socket = connectTcp({ port: it.port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.resume();
    socket.write("GET / HTTP/1.1\r\n\r\n");
    await once(socket, "close");
    assert.equal(await call(it.port, grpc.credentials.createSsl(authority.ca)), "hello");
  });

  test("a replaced certificate does not change the minimum version and the cipher suites", async () => {
    await using it = await start({ tls: { ...localhost, minVersion: "TLSv1.3" } });
    it.server.setSecureContext(authority.issue("renewed"));
    const open = (maxVersion: "TLSv1.2" | "TLSv1.3") =>
      handshake(it.port, { maxVersion, ALPNProtocols: ["h2"], checkServerIdentity: () => undefined });
    const { socket, error } = await open("TLSv1.3");
    assert.equal(error, undefined);
    socket.destroy();
    assert.match(String((await open("TLSv1.2")).error), /version/);
  });

  const suites: [suite: string, key: "ec" | "rsa", isServed: boolean][] = [
    ["ECDHE-ECDSA-AES128-GCM-SHA256", "ec", true],
    ["ECDHE-ECDSA-CHACHA20-POLY1305", "ec", true],
    ["ECDHE-RSA-AES128-GCM-SHA256", "rsa", true],
    ["ECDHE-RSA-AES256-GCM-SHA384", "rsa", true],
    // CBC (RFC 9113, appendix A)
    ["ECDHE-ECDSA-AES128-SHA256", "ec", false],
    ["ECDHE-ECDSA-AES256-SHA", "ec", false],
    ["ECDHE-RSA-AES256-SHA384", "rsa", false],
    // RSA key exchange: no forward secrecy
    ["AES128-GCM-SHA256", "rsa", false],
    ["AES256-SHA256", "rsa", false],
    ["AES128-SHA", "rsa", false],
  ];
  for (const replaced of [false, true]) {
    for (const [suite, algorithm, isServed] of suites) {
      test(`TLS 1.2 with ${suite} is ${isServed ? "" : "not "}served${replaced ? ", with a replaced certificate" : ""}`, async () => {
        const pair = algorithm === "ec" ? localhost : rsa;
        await using it = await start({ tls: pair });
        if (replaced) it.server.setSecureContext(pair);
        const { socket, error } = await handshake(it.port, {
          maxVersion: "TLSv1.2",
          ciphers: `${suite}:@SECLEVEL=0`,
          ALPNProtocols: ["h2"],
        });
        assert.equal(error === undefined, isServed, String(error));
        if (isServed) assert.equal(socket.getCipher().name, suite);
        socket.destroy();
      });
    }
  }

  test("TLS 1.2: refuses renegotiation", async () => {
    await using it = await start({ tls: localhost });
    const { socket } = await handshake(it.port, { maxVersion: "TLSv1.2", ALPNProtocols: ["h2"] });
    const refused = Promise.withResolvers<Error | null>();
    socket.on("error", refused.resolve);
    socket.on("close", () => refused.resolve(new Error("closed")));
    socket.renegotiate({}, refused.resolve);
    assert.ok(await refused.promise);
    socket.destroy();
  });

  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    test(`${maxVersion}: checks the certificate of a resumed session again, and refuses it after a change of authorities`, async () => {
      const trusted = new Set(["alice"]);
      await using it = await start({
        tls: {
          ...localhost,
          ca: authority.ca,
          requestCert: true,
          verifyPeer: ({ subject }) => trusted.has(String(subject.CN)),
        },
      });
      const open = (session?: Buffer) =>
        handshake(it.port, {
          ...alice,
          maxVersion,
          ALPNProtocols: ["h2"],
          checkServerIdentity: () => undefined,
          ...(session !== undefined && { session }),
        });
      const first = await open();
      // Of TLS 1.3 it comes in a message of its own, after the handshake.
      const session =
        maxVersion === "TLSv1.2"
          ? first.socket.getSession()
          : ((await once(first.socket, "session")) as [Buffer])[0];
      first.socket.destroy();
      /** Whether the server goes on with the connection: it answers the preface with its SETTINGS. */
      const isServed = async ({ socket, error }: Awaited<ReturnType<typeof open>>) => {
        if (error !== undefined) return false;
        const outcome = Promise.withResolvers<boolean>();
        socket.once("data", () => outcome.resolve(true));
        socket.once("close", () => outcome.resolve(false));
        socket.on("error", () => outcome.resolve(false));
        socket.write(Buffer.concat([preface, settings()]));
        const served = await outcome.promise;
        socket.destroy();
        return served;
      };
      const resumed = await open(session);
      assert.equal(resumed.socket.isSessionReused(), true);
      assert.equal(await isServed(resumed), true);
      trusted.delete("alice");
      assert.equal(await isServed(await open(session)), false);
      trusted.add("alice");
      it.server.setSecureContext({ ...localhost, ca: stranger.ca });
      const swapped = await open(session);
      assert.equal(swapped.error === undefined && swapped.socket.isSessionReused(), false);
      assert.equal(await isServed(swapped), false);
    });
  }

  test("a replaced certificate does not affect open connections", async () => {
    await using it = await start({ tls: localhost });
    const client = new grpc.Client(`localhost:${it.port}`, grpc.credentials.createSsl(authority.ca));
    const ask = () =>
      new Promise<string>((resolve, reject) =>
        client.makeUnaryRequest("/t.T/Echo", bytes, bytes, Buffer.from("on"), (error, answer?: Buffer) =>
          error ? reject(error) : resolve(String(answer)),
        ),
      );
    assert.equal(await ask(), "on");
    it.server.setSecureContext(stranger.issue("localhost"));
    assert.equal(await ask(), "on");
    assert.equal(it.server.counts().connectionsAccepted, 1);
    client.close();
  });

  test("a drain closes connections in their handshake", async () => {
    const server = new GrpcServer({ tls: localhost });
    const bound = await server.listen({ port: 0 });
    const socket = connectTcp({ port: bound.kind === "tcp" ? bound.port : 0, host: "127.0.0.1" });
    await once(socket, "connect");
    socket.on("error", () => {});
    socket.resume();
    const closed = once(socket, "close");
    // The server has accepted it before it hears of the drain.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server.drain();
    await closed;
  });
});
