import { createHash } from "node:crypto";

import { S3Error } from "../errors.ts";
import type { ChunkSigning } from "./payload.ts";
import { equalsSafely, hmacHex } from "./signing-key.ts";

const EMPTY_SHA256 = createHash("sha256").digest("hex");
const MAXIMUM_LINE = 4096;
const MAXIMUM_TRAILERS = 20;

export interface ChunkedBody {
  /** The decoded bytes. Throws when the framing or a signature is wrong. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Trailing headers, lower-case; complete once `chunks` has ended. */
  readonly trailers: ReadonlyMap<string, string>;
}

/** Decodes `aws-chunked` content and verifies the chain of chunk signatures where there is one. */
export function decodeChunks(
  source: AsyncIterable<Buffer>,
  {
    trailer,
    signing,
    announced,
  }: {
    readonly trailer: boolean;
    readonly signing?: ChunkSigning | undefined;
    /** Value of `x-amz-trailer`: what has to come. */
    readonly announced?: string | undefined;
  },
): ChunkedBody {
  const trailers = new Map<string, string>();
  const chunks = decode(new Reader(source), trailer, signing, trailers);
  return {
    chunks: !trailer || announced === undefined ? chunks : checkTrailers(chunks, announced, trailers),
    trailers,
  };
}

/** @throws {S3Error} MalformedTrailerError when an announced trailer does not come: its checksum would count as verified */
async function* checkTrailers(
  chunks: AsyncIterable<Buffer>,
  announced: string,
  trailers: ReadonlyMap<string, string>,
): AsyncGenerator<Buffer> {
  yield* chunks;
  const names = announced.toLowerCase().split(",");
  const missing = names.map((name) => name.trim()).find((name) => name !== "" && !trailers.has(name));
  if (missing !== undefined) {
    throw new S3Error("MalformedTrailerError", `The trailer "${missing}" was announced in x-amz-trailer and not sent.`);
  }
}

async function* decode(
  reader: Reader,
  trailer: boolean,
  signing: ChunkSigning | undefined,
  trailers: Map<string, string>,
): AsyncGenerator<Buffer> {
  let previous = signing?.seed ?? "";
  for (;;) {
    const line = await reader.readLine();
    const match = /^([0-9a-fA-F]{1,16})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(line);
    if (match === null || (signing !== undefined && match[2] === undefined)) {
      throw new S3Error(
        "InvalidRequest",
        "The aws-chunked body is malformed: a chunk must start with its size in hex.",
      );
    }
    const size = Number.parseInt(match[1] ?? "", 16);
    const digest = signing && createHash("sha256");
    for await (const piece of reader.readBytes(size)) {
      digest?.update(piece);
      // A signed chunk is passed on before its signature is seen; the object appears only if all of them hold.
      yield piece;
    }
    if (signing && digest) {
      const text = `AWS4-HMAC-SHA256-PAYLOAD\n${signing.time}\n${signing.scope}\n${previous}\n${EMPTY_SHA256}\n${digest.digest("hex")}`;
      previous = checkSignature(hmacHex(signing.key, text), match[2]);
    }
    if (size === 0) {
      break;
    }
    if ((await reader.readLine()) !== "") {
      throw new S3Error("InvalidRequest", "The aws-chunked body is malformed: a chunk is longer than its size says.");
    }
  }
  if (trailer) {
    await readTrailers(reader, signing, previous, trailers);
  } else {
    await reader.readLine();
  }
}

async function readTrailers(
  reader: Reader,
  signing: ChunkSigning | undefined,
  previous: string,
  trailers: Map<string, string>,
): Promise<void> {
  let signed = "";
  let signature: string | undefined;
  for (let count = 0; count < MAXIMUM_TRAILERS; count += 1) {
    const line = await reader.readLine();
    if (line === "") {
      break;
    }
    const at = line.indexOf(":");
    const name = line.slice(0, at).trim().toLowerCase();
    const value = line.slice(at + 1).trim();
    if (at < 1) {
      throw new S3Error("InvalidRequest", "The trailer of the aws-chunked body is malformed.");
    }
    if (name === "x-amz-trailer-signature") {
      signature = value;
    } else {
      trailers.set(name, value);
      signed += `${name}:${value}\n`;
    }
  }
  if (signing) {
    const digest = createHash("sha256").update(signed).digest("hex");
    const text = `AWS4-HMAC-SHA256-TRAILER\n${signing.time}\n${signing.scope}\n${previous}\n${digest}`;
    checkSignature(hmacHex(signing.key, text), signature);
  }
}

function checkSignature(signature: string, provided: string | undefined): string {
  if (!equalsSafely(signature, provided ?? "")) {
    throw new S3Error("SignatureDoesNotMatch", "The signature of a chunk does not match.");
  }
  return signature;
}

/** Lines and counted bytes from a stream of buffers; only what is left of a line is copied. */
class Reader {
  readonly #source: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);
  #ended = false;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** A line without its CRLF; the empty text at the end of the stream. */
  async readLine(): Promise<string> {
    for (;;) {
      const end = this.#buffer.indexOf("\r\n");
      if (end >= 0) {
        const line = this.#buffer.toString("latin1", 0, end);
        this.#buffer = this.#buffer.subarray(end + 2);
        return line;
      }
      if (this.#buffer.length > MAXIMUM_LINE) {
        throw new S3Error("InvalidRequest", "The aws-chunked body is malformed: a line is too long.");
      }
      if (!(await this.#fill())) {
        const line = this.#buffer.toString("latin1");
        this.#buffer = Buffer.alloc(0);
        return line;
      }
    }
  }

  async *readBytes(count: number): AsyncGenerator<Buffer> {
    let left = count;
    while (left > 0) {
      if (this.#buffer.length === 0 && !(await this.#fill())) {
        throw new S3Error("IncompleteBody");
      }
      const piece = this.#buffer.subarray(0, left);
      this.#buffer = this.#buffer.subarray(piece.length);
      left -= piece.length;
      if (piece.length > 0) {
        yield piece;
      }
    }
  }

  async #fill(): Promise<boolean> {
    if (this.#ended) {
      return false;
    }
    // Who gives chunks may take the last one back when asked for the next.
    const left = this.#buffer.length === 0 ? undefined : Buffer.from(this.#buffer);
    const { value, done } = await this.#source.next();
    if (done) {
      this.#buffer = left ?? Buffer.alloc(0);
      this.#ended = true;
      return false;
    }
    this.#buffer = left === undefined ? value : Buffer.concat([left, value]);
    return true;
  }
}
