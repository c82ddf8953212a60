import { createSocket, type Socket } from "node:dgram";

export interface SrvRecord {
  readonly target: string;
  readonly port: number;
}

const TYPE_SRV = 33;

/** A DNS server on its own UDP port. It answers every SRV question with its records (RFC 1035, RFC 2782). */
export class DnsServer {
  records: readonly SrvRecord[];
  /** Whether to answer with SERVFAIL. */
  failing = false;
  /** Number of received questions. */
  asked = 0;
  readonly #socket: Socket;

  private constructor(socket: Socket, records: readonly SrvRecord[]) {
    this.#socket = socket;
    this.records = records;
    socket.on("message", (query, from) => socket.send(this.#answer(query), from.port, from.address));
  }

  static async start(records: readonly SrvRecord[] = []): Promise<DnsServer> {
    const socket = createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    return new DnsServer(socket, records);
  }

  get url(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }

  #answer(query: Buffer): Buffer {
    this.asked++;
    let end = 12;
    while (query[end] !== 0) end += query[end]! + 1;
    const question = query.subarray(12, end + 5);
    const records = this.failing ? [] : this.records;
    const header = Buffer.alloc(12);
    header.writeUInt16BE(query.readUInt16BE(0), 0);
    header.writeUInt16BE(this.failing ? 0x8182 : 0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    return Buffer.concat([header, question, ...records.map(encode)]);
  }
}

function encode({ target, port }: SrvRecord): Buffer {
  const name = Buffer.concat([
    ...target.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);
  const record = Buffer.alloc(18);
  // The question's name, at offset 12.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(TYPE_SRV, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(1, 6);
  record.writeUInt16BE(6 + name.length, 10);
  record.writeUInt16BE(port, 16);
  return Buffer.concat([record, name]);
}
