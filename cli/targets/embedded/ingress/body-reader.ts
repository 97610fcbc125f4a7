import { MessageError } from "./message-error.ts";

/** How the end of a body is found (RFC 9112 §6.3). `close`: by the end of the connection, answers only. */
export type Framing =
  | { readonly kind: "none" | "chunked" | "close" }
  | { readonly kind: "length"; readonly length: number };

/** What a body reader hands on: contents without framing, then the trailer section as raw field lines. */
export interface BodySink {
  readonly onBody: (slice: Buffer) => void;
  readonly onBodyEnd: (trailers: string) => void;
}

const MAX_CHUNK_LINE = 1024;
const MAX_TRAILERS = 8192;
const LF = 10;
const CR = 13;
/**
 * chunk-size and chunk-ext (RFC 9112 §7.1.1), without the bad white space that it tolerates. Nothing lenient: leniency here is request
 * smuggling.
 */
const CHUNK_LINE =
  /^([0-9a-fA-F]{1,12})(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;

type State = "length" | "close" | "size" | "data" | "data-end" | "trailers" | "done";

/** Finds the end of one message's body in a stream of bytes and refuses whatever is not framed exactly by the grammar. */
export class BodyReader {
  #state: State;
  #remaining: number;
  #line = "";
  #trailers = "";
  readonly #sink: BodySink;

  constructor(framing: Framing, sink: BodySink) {
    this.#sink = sink;
    this.#remaining = framing.kind === "length" ? framing.length : 0;
    switch (framing.kind) {
      case "none":
        this.#state = "done";
        break;
      case "length":
        this.#state = framing.length === 0 ? "done" : "length";
        break;
      case "close":
        this.#state = "close";
        break;
      case "chunked":
        this.#state = "size";
        break;
    }
  }

  get done(): boolean {
    return this.#state === "done";
  }

  /** Whether the end of the connection may end this body. */
  get endsWithConnection(): boolean {
    return this.#state === "close" || this.#state === "done";
  }

  /**
   * Takes bytes; returns how many belonged to this body.
   * @throws {MessageError} 400 when the framing is broken
   */
  feed(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.#state !== "done") {
      switch (this.#state) {
        case "close":
          this.#sink.onBody(at === 0 ? chunk : chunk.subarray(at));
          return chunk.length;
        case "length":
        case "data": {
          const end = Math.min(chunk.length, at + this.#remaining);
          this.#remaining -= end - at;
          const slice = at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end);
          at = end;
          const last = this.#remaining === 0 && this.#state === "length";
          if (this.#remaining === 0) {
            this.#state = last ? "done" : "data-end";
          }
          this.#sink.onBody(slice);
          if (last) {
            this.#sink.onBodyEnd("");
          }
          break;
        }
        case "size":
        case "data-end":
        case "trailers":
          at = this.#readLine(chunk, at);
          break;
      }
    }
    return at;
  }

  #readLine(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(LF, from);
    this.#line += chunk.toString("latin1", from, end === -1 ? chunk.length : end);
    if (this.#line.length > (this.#state === "trailers" ? MAX_TRAILERS : MAX_CHUNK_LINE)) {
      throw new MessageError(400, "a line of the chunked body is too long");
    }
    if (end === -1) {
      return chunk.length;
    }
    const line = this.#line;
    this.#line = "";
    if (line.charCodeAt(line.length - 1) !== CR) {
      throw new MessageError(400, "a line of the chunked body does not end with CR LF");
    }
    this.#takeLine(line.slice(0, -1));
    return end + 1;
  }

  #takeLine(line: string): void {
    if (this.#state === "data-end") {
      if (line !== "") {
        throw new MessageError(400, "a chunk is longer than its size");
      }
      this.#state = "size";
      return;
    }
    if (this.#state === "size") {
      const size = CHUNK_LINE.exec(line)?.[1];
      if (size === undefined) {
        throw new MessageError(400, "a chunk has no valid size");
      }
      this.#remaining = Number.parseInt(size, 16);
      this.#state = this.#remaining === 0 ? "trailers" : "data";
      return;
    }
    if (line !== "") {
      this.#trailers += `${line}\r\n`;
      if (this.#trailers.length > MAX_TRAILERS) {
        throw new MessageError(400, "the trailer section is too long");
      }
      return;
    }
    this.#state = "done";
    this.#sink.onBodyEnd(this.#trailers);
  }
}
