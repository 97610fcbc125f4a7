import { createHmac, randomInt, timingSafeEqual } from "node:crypto";
import { connect } from "node:net";

import { AcmeError } from "./problem.ts";
import type { TsigAlgorithm } from "./settings.ts";

export interface DnsUpdate {
  readonly server: { readonly host: string; readonly port: number };
  readonly zone: string;
  /** Signs the update and checks the response (RFC 8945). */
  readonly key?: { readonly name: string; readonly algorithm: TsigAlgorithm; readonly secret: string };
  /** Adds one TXT record, or removes exactly that one. */
  readonly action: "add" | "remove";
  readonly name: string;
  readonly value: string;
}

const TYPE = { SOA: 6, TXT: 16, TSIG: 250 } as const;
const CLASS = { IN: 1, NONE: 254, ANY: 255 } as const;
const UPDATE_FLAGS = 5 << 11;
const TTL_SECONDS = 60;
const FUDGE_SECONDS = 300;
const TIMEOUT_MS = 10_000;
const HEADER_BYTES = 12;
const RCODES: Readonly<Record<number, string>> = {
  1: "FORMERR",
  2: "SERVFAIL",
  3: "NXDOMAIN",
  4: "NOTIMP",
  5: "REFUSED: the key may not change this zone",
  8: "NXRRSET",
  9: "NOTAUTH: the server is not the primary of this zone, or does not know the key",
  10: "NOTZONE",
};

/**
 * Changes one TXT record by a dynamic update (RFC 2136) over TCP.
 * @throws {AcmeError} when the server refuses, does not answer, or its response is not signed with the key
 */
export async function sendDnsUpdate(update: DnsUpdate, now: () => number = Date.now): Promise<void> {
  const id = randomInt(0x1_0000);
  const unsigned = encodeUpdate(update, id);
  const time = Math.floor(now() / 1000);
  const signed = update.key === undefined ? { message: unsigned, mac: undefined } : sign(unsigned, update.key, time);
  const { host, port } = update.server;
  const where = `the DNS server ${host} port ${port}`;
  let response: Buffer;
  try {
    response = await exchange(signed.message, update.server);
  } catch (error) {
    throw new AcmeError(
      `${where} cannot be reached: ${(error as Error).message}`,
      "Check ACME_DNS_SERVER; the server must take updates over TCP from this machine.",
      { cause: error },
    );
  }
  if (response.length < HEADER_BYTES || response.readUInt16BE(0) !== id) {
    throw new AcmeError(`${where} sent no response to the update`, "Check ACME_DNS_SERVER.");
  }
  const rcode = response.readUInt16BE(2) & 0xf;
  if (rcode !== 0) {
    throw new AcmeError(
      `${where} refused to change ${update.name} in the zone ${update.zone}: ${RCODES[rcode] ?? `rcode ${rcode}`}`,
      "Allow the key ACME_DNS_KEY_NAME to change TXT records of the zone, and check ACME_DNS_KEY_SECRET, ACME_DNS_ZONE and the clocks of both machines.",
    );
  }
  if (update.key !== undefined && !isSigned(response, update.key, signed.mac)) {
    throw new AcmeError(
      `the response of ${where} is not signed with the key ${update.key.name}`,
      "Check ACME_DNS_SERVER: something else answers in its place.",
    );
  }
}

function encodeUpdate({ zone, name, value, action }: DnsUpdate, id: number): Buffer {
  const text = Buffer.from(value, "latin1");
  const rdata = Buffer.concat([Buffer.from([text.length]), text]);
  const isAdd = action === "add";
  return Buffer.concat([
    header(id, UPDATE_FLAGS, [1, 0, 1, 0]),
    encodeName(zone),
    numbers16(TYPE.SOA, CLASS.IN),
    encodeName(name),
    // RFC 2136 §2.5.4: class NONE and no time to live remove the record with this very content.
    numbers16(TYPE.TXT, isAdd ? CLASS.IN : CLASS.NONE),
    number32(isAdd ? TTL_SECONDS : 0),
    numbers16(rdata.length),
    rdata,
  ]);
}

type Key = NonNullable<DnsUpdate["key"]>;

function sign(message: Buffer, key: Key, time: number): { readonly message: Buffer; readonly mac: Buffer } {
  const mac = digest(key, [message, tsigVariables(key, time, FUDGE_SECONDS, 0, Buffer.alloc(0))]);
  const rdata = Buffer.concat([
    encodeName(key.algorithm),
    number48(time),
    numbers16(FUDGE_SECONDS, mac.length),
    mac,
    numbers16(message.readUInt16BE(0), 0, 0),
  ]);
  const record = Buffer.concat([
    encodeName(key.name),
    numbers16(TYPE.TSIG, CLASS.ANY),
    number32(0),
    numbers16(rdata.length),
    rdata,
  ]);
  const counted = Buffer.from(message);
  counted.writeUInt16BE(message.readUInt16BE(10) + 1, 10);
  return { message: Buffer.concat([counted, record]), mac };
}

/** Whether the last record is a signature of the key over the response and the request's signature (RFC 8945 §5.4). */
function isSigned(response: Buffer, key: Key, requestMac: Buffer | undefined): boolean {
  try {
    const start = findLastRecord(response);
    const afterName = skipName(response, start);
    if (response.readUInt16BE(afterName) !== TYPE.TSIG) {
      return false;
    }
    const rdata = afterName + 10;
    const fields = skipName(response, rdata);
    const time = response.readUIntBE(fields, 6);
    const fudge = response.readUInt16BE(fields + 6);
    const macLength = response.readUInt16BE(fields + 8);
    const mac = response.subarray(fields + 10, fields + 10 + macLength);
    const error = response.readUInt16BE(fields + 12 + macLength);
    const otherLength = response.readUInt16BE(fields + 14 + macLength);
    const other = response.subarray(fields + 16 + macLength, fields + 16 + macLength + otherLength);
    const bare = Buffer.from(response.subarray(0, start));
    bare.writeUInt16BE(bare.readUInt16BE(10) - 1, 10);
    const request = requestMac ?? Buffer.alloc(0);
    const expected = digest(key, [
      numbers16(request.length),
      request,
      bare,
      tsigVariables(key, time, fudge, error, other),
    ]);
    return mac.length === expected.length && timingSafeEqual(mac, expected);
  } catch (error) {
    if (error instanceof RangeError) {
      // Shorter than its own counts say.
      return false;
    }
    throw error;
  }
}

function tsigVariables(key: Key, time: number, fudge: number, error: number, other: Buffer): Buffer {
  return Buffer.concat([
    encodeName(key.name),
    numbers16(CLASS.ANY),
    number32(0),
    encodeName(key.algorithm),
    number48(time),
    numbers16(fudge, error, other.length),
    other,
  ]);
}

function digest({ algorithm, secret }: Key, parts: readonly Buffer[]): Buffer {
  return createHmac(algorithm.replace("hmac-", ""), Buffer.from(secret, "base64"))
    .update(Buffer.concat(parts))
    .digest();
}

/** Where the last record of a message begins. */
function findLastRecord(message: Buffer): number {
  let offset = HEADER_BYTES;
  for (let count = message.readUInt16BE(4); count > 0; count -= 1) {
    offset = skipName(message, offset) + 4;
  }
  let start = offset;
  for (
    let count = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
    count > 0;
    count -= 1
  ) {
    start = offset;
    const fields = skipName(message, offset);
    offset = fields + 10 + message.readUInt16BE(fields + 8);
  }
  return start;
}

function skipName(message: Buffer, start: number): number {
  let offset = start;
  for (;;) {
    const length = message.readUInt8(offset);
    if (length >= 0xc0) {
      return offset + 2;
    }
    offset += length + 1;
    if (length === 0) {
      return offset;
    }
  }
}

/** In the canonical form of signatures: lower case, never compressed. */
function encodeName(name: string): Buffer {
  const labels = name.toLowerCase().replace(/\.$/, "").split(".");
  return Buffer.concat([
    ...labels
      .filter((label) => label !== "")
      .map((label) => Buffer.from([label.length, ...Buffer.from(label, "latin1")])),
    Buffer.from([0]),
  ]);
}

function header(id: number, flags: number, counts: readonly [number, number, number, number]): Buffer {
  return numbers16(id, flags, ...counts);
}

function numbers16(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) {
    buffer.writeUInt16BE(value, index * 2);
  }
  return buffer;
}

function number32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
}

function number48(value: number): Buffer {
  const buffer = Buffer.alloc(6);
  buffer.writeUIntBE(value, 0, 6);
  return buffer;
}

/** One message to the server and one back, each behind its length (RFC 1035 §4.2.2). */
function exchange(message: Buffer, { host, port }: DnsUpdate["server"]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    let received = Buffer.alloc(0);
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(TIMEOUT_MS, () => fail(new Error(`no response in ${TIMEOUT_MS / 1000} s`)));
    socket.on("error", fail);
    socket.on("close", () => reject(new Error("the connection ended without a response")));
    socket.on("connect", () => socket.write(Buffer.concat([numbers16(message.length), message])));
    socket.on("data", (chunk) => {
      // A length of two bytes bounds what is kept.
      received = Buffer.concat([received, chunk]);
      const length = received.length >= 2 ? received.readUInt16BE(0) : Infinity;
      if (received.length >= length + 2) {
        socket.destroy();
        resolve(received.subarray(2, length + 2));
      }
    });
  });
}
