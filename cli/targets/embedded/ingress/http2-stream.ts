import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { Duplex } from "node:stream";

import { parseAnswerHead } from "./answer-head.ts";
import { BodyReader } from "./body-reader.ts";
import { eachField } from "./fields.ts";

const END_OF_HEAD = Buffer.from("\r\n\r\n");
const CRLF = Buffer.from("\r\n");
/** What belongs to a connection has no place in a stream (RFC 9113 §8.2.2), and what frames a message there is made here. */
const FORBIDDEN = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);
/** Methods that say the length of their body even where there is none (RFC 9110 §8.6). */
const BODY_METHODS = new Set(["POST", "PUT", "PATCH"]);

/**
 * The head of an HTTP/2 request as HTTP/1.1 has it; `undefined` for one that is malformed (RFC 9113 §8.2.1 to §8.3.1). What HTTP/1.1 cannot
 * say is refused by who parses it. `CONNECT` has no path, and `:protocol` (RFC 8441) is not offered.
 */
export function toRequestText(headers: IncomingHttpHeaders, hasBody: boolean): string | undefined {
  const { ":method": method = "", ":path": path = "", ":authority": authority, host } = headers;
  const isFramed = headers["content-length"] !== undefined;
  const lines: [string, string][] = [["host", authority ?? host ?? ""]];
  for (const [name, value] of Object.entries(headers)) {
    if (FORBIDDEN.has(name)) {
      return undefined;
    }
    if (!name.startsWith(":") && name !== "host" && value !== undefined) {
      lines.push(...(Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, one]));
    }
  }
  if (hasBody && !isFramed) {
    lines.push(["transfer-encoding", "chunked"]);
  }
  if (!hasBody && !isFramed && BODY_METHODS.has(method)) {
    lines.push(["content-length", "0"]);
  }
  const isBroken = [method, path, ...lines.flat()].some((part) => /[\0\r\n]/.test(part));
  if (isBroken || (authority !== undefined && host !== undefined && host !== authority)) {
    return undefined;
  }
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

/**
 * One HTTP/2 stream as a connection of HTTP/1.1: what is read is the request, what is written is taken as the answer. So everything that
 * routes, checks, limits and logs requests is there once.
 */
export class Http2StreamSocket extends Duplex {
  readonly remoteAddress: string | undefined;
  bytesRead = 0;
  bytesWritten = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #method: string;
  readonly #isChunked: boolean;
  #requestTrailers = "";
  #head: Buffer | undefined;
  #body: BodyReader | undefined;
  #isAnswered = false;
  /** The engine ends a stream by itself only where no trailers are to follow. */
  #mayHaveTrailers = false;

  constructor(
    stream: ServerHttp2Stream,
    { text, method, hasBody }: { text: string; method: string; hasBody: boolean },
    remoteAddress: string | undefined,
  ) {
    super({ allowHalfOpen: true });
    this.remoteAddress = remoteAddress;
    this.#stream = stream;
    this.#method = method;
    this.#isChunked = text.includes("\r\ntransfer-encoding: chunked\r\n");
    stream
      .on("error", () => {})
      .on("close", () => this.destroy())
      .on("drain", () => this.emit("stream-drain"));
    this.#push(Buffer.from(text, "latin1"));
    if (hasBody) {
      stream
        .on("data", (chunk: Buffer) => this.#onBody(chunk))
        .on("trailers", (trailers: IncomingHttpHeaders) => (this.#requestTrailers = toLines(trailers)))
        .on("end", () => this.#onBodyEnd());
      stream.pause();
    } else {
      stream.resume();
    }
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    try {
      this.#takeAnswer(chunk);
    } catch (error) {
      done(error as Error);
      return;
    }
    const finish = () => {
      this.bytesWritten += chunk.length;
      done();
    };
    if (this.#stream.writableNeedDrain && !this.#isAnswered) {
      this.once("stream-drain", finish);
    } else {
      finish();
    }
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#body?.endsWithConnection === true) {
      this.#endAnswer("");
    }
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (this.#isAnswered) {
      this.#stream.close(constants.NGHTTP2_NO_ERROR);
    } else {
      // Closing would end the stream first, and a part of an answer would pass for all of it.
      this.#stream.destroy(new Error("the answer broke off"));
    }
    done(error);
  }

  #push(bytes: Buffer): void {
    this.bytesRead += bytes.length;
    if (!this.push(bytes)) {
      this.#stream.pause();
    }
  }

  #onBody(chunk: Buffer): void {
    if (this.#isChunked) {
      this.#push(Buffer.from(`${chunk.length.toString(16)}\r\n`));
      this.#push(chunk);
      this.#push(CRLF);
    } else {
      this.#push(chunk);
    }
  }

  #onBodyEnd(): void {
    if (this.#isChunked && !this.destroyed) {
      this.#push(Buffer.from(`0\r\n${this.#requestTrailers}\r\n`, "latin1"));
    }
  }

  #takeAnswer(chunk: Buffer): void {
    let bytes: Buffer | undefined = chunk;
    while (this.#body === undefined && bytes !== undefined && bytes.length > 0) {
      bytes = this.#takeHead(bytes);
    }
    if (this.#body !== undefined && bytes !== undefined && bytes.length > 0) {
      this.#body.feed(bytes);
    }
  }

  /** Reads an answer's head; returns what follows it, or `undefined` when it is not whole yet. */
  #takeHead(chunk: Buffer): Buffer | undefined {
    const bytes = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    const end = bytes.indexOf(END_OF_HEAD);
    if (end === -1) {
      this.#head = bytes;
      return undefined;
    }
    this.#head = undefined;
    const response = parseAnswerHead(bytes.toString("latin1", 0, end + 2), this.#method);
    const rest = bytes.subarray(end + 4);
    const headers = { ":status": response.status, ...toHeaders(response.lines) };
    if (this.#stream.destroyed || this.#stream.closed) {
      return undefined;
    }
    if (response.status < 200) {
      // The engine has sent 100 by itself where it was asked for.
      if (response.status > 101) {
        this.#stream.additionalHeaders(headers);
      }
      return rest;
    }
    this.#mayHaveTrailers = response.framing.kind === "chunked" && headers["trailer"] !== undefined;
    this.#body = new BodyReader(response.framing, {
      onBody: (slice) => this.#stream.write(slice),
      onBodyEnd: (trailers) => this.#endAnswer(trailers),
    });
    this.#stream.respond(headers, {
      endStream: this.#body.done,
      waitForTrailers: this.#mayHaveTrailers,
    });
    if (this.#body.done) {
      this.#onAnswered();
    }
    return rest;
  }

  #endAnswer(trailers: string): void {
    if (this.#isAnswered) {
      return;
    }
    if (this.#mayHaveTrailers) {
      this.#stream.once("wantTrailers", () => {
        if (!this.#stream.destroyed) {
          this.#stream.sendTrailers(toHeaders(trailers));
        }
      });
    }
    this.#stream.end();
    this.#onAnswered();
  }

  /** A client that is still sending is told to stop (RFC 9113 §8.1). */
  #onAnswered(): void {
    this.#isAnswered = true;
    if (!this.#stream.readableEnded) {
      this.#stream.once("finish", () => this.#stream.close(constants.NGHTTP2_NO_ERROR));
    }
  }
}

function toLines(headers: IncomingHttpHeaders): string {
  return Object.entries(headers)
    .filter(([name]) => !name.startsWith(":"))
    .map(([name, value]) => `${name}: ${String(value)}\r\n`)
    .join("");
}

/** Field lines as HTTP/2 has them: names in lower case, cookies apart, other repetitions joined (RFC 9110 §5.3). */
function toHeaders(lines: string): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  eachField(lines, 0, (fieldName, value) => {
    const name = fieldName.toLowerCase();
    const present = headers[name];
    if (name === "set-cookie") {
      headers[name] = Array.isArray(present) ? [...present, value] : [value];
    } else {
      headers[name] = present === undefined ? value : `${String(present)}, ${value}`;
    }
  });
  return headers;
}
