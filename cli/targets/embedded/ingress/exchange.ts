import { randomUUID } from "node:crypto";

import { type ResponseHead, parseAnswerHead } from "./answer-head.ts";
import type { OwnResponse } from "./answers.ts";
import { BodyReader } from "./body-reader.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { Route } from "./config.ts";
import type { IngressContext } from "./context.ts";
import { classifyAnswerField, filterRequestTrailers, filterTrailers } from "./fields.ts";
import { MessageError } from "./message-error.ts";
import { missingSecurityFields } from "./security-fields.ts";
import type { RequestHead } from "./request-head.ts";
import type { UpstreamConnection, UpstreamUser } from "./upstream-pool.ts";

const END_OF_HEAD = Buffer.from("\r\n\r\n");
const FIRST_RETRY_MILLISECONDS = 25;
const MAX_RETRY_MILLISECONDS = 200;
const MAX_RESENDS = 3;
/** Methods that may be sent again when no byte of an answer has arrived (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"]);
/** Up to here head and body go out as one string in one system call, which is faster than two buffers. */
const ONE_WRITE_BYTES = 8192;

/** One request on its way to a pod, and the answer on its way back. */
export class Exchange implements UpstreamUser {
  readonly #context: IngressContext;
  readonly #client: ClientConnection;
  readonly #request: RequestHead;
  readonly #requestId = randomUUID();
  readonly #started = performance.now();
  /** Whether the request has no body and may be sent twice. */
  readonly #replayable: boolean;
  readonly #body: BodyReader;
  #route: Route | undefined;
  #upstream: UpstreamConnection | undefined;
  #connected = false;
  #reused = false;
  #resends = 0;
  #timer: NodeJS.Timeout | undefined;
  #retryMilliseconds = FIRST_RETRY_MILLISECONDS;
  #held = false;
  #answerBytes: Buffer | undefined;
  #answer: ResponseHead | undefined;
  #answerBody: BodyReader | undefined;
  /** How the answer's body is framed towards the client. */
  #chunkedOut = false;
  #closeAfter = false;
  #sentBytes = 0;
  /** What waits to be written together with what follows. */
  #out = "";
  #tunnel = false;
  #over = false;

  constructor(context: IngressContext, client: ClientConnection, request: RequestHead) {
    this.#context = context;
    this.#client = client;
    this.#request = request;
    this.#body = new BodyReader(request.framing, {
      onBody: (slice) => this.#sendBody(slice),
      onBodyEnd: (trailers) => this.#endBody(trailers),
    });
    this.#replayable = this.#body.done && IDEMPOTENT.has(request.method);
  }

  get tunnel(): boolean {
    return this.#tunnel;
  }

  /** Whether a part of the request's body has yet to arrive. */
  get wantsBody(): boolean {
    return !this.#body.done;
  }

  /** Whether the upstream can take more bytes now. */
  get takesBytes(): boolean {
    return this.#connected && this.#upstream?.socket.writableNeedDrain === false;
  }

  /** Whether the client is what the exchange waits for. */
  get waitsForClient(): boolean {
    return this.wantsBody && this.takesBytes;
  }

  start(): void {
    const { find } = this.#context.routes;
    this.#route = find(this.#request.host);
    if (this.#route === undefined) {
      this.#refuse(this.#client.unknownHost(this.#request.host));
      return;
    }
    const { upstream, ready, deploying } = this.#route;
    if (upstream === null || !ready) {
      if (deploying && this.#mayHold()) {
        this.#hold();
      } else {
        this.#refuse(notReady(this.#route));
      }
      return;
    }
    const idle = this.#replayable ? this.#context.pool.takeIdle(upstream, this) : undefined;
    this.#reused = idle !== undefined;
    this.#upstream = idle ?? this.#context.pool.open(upstream, this);
    if (this.#reused) {
      this.onConnect();
    }
  }

  /** Takes bytes from the client; returns how many belonged to this request. */
  feed(chunk: Buffer): number {
    if (this.#tunnel) {
      this.#upstream?.socket.write(chunk);
      return chunk.length;
    }
    return this.#body.feed(chunk);
  }

  /** The client can take more bytes. */
  onClientDrain(): void {
    this.#upstream?.socket.resume();
  }

  /** The client is gone, or broke the grammar in its body. */
  abort(): void {
    if (!this.#over) {
      this.#finish(this.#tunnel ? 101 : 499);
    }
  }

  /** The client's body is broken. Answers when nothing has been answered yet. */
  fail(error: MessageError): void {
    if (this.#answer === undefined) {
      this.#refuse({ status: error.status, detail: `The request cannot be read: ${error.message}.` });
    } else {
      this.#client.destroy();
    }
  }

  onConnect(): void {
    this.#connected = true;
    this.#unhold();
    const request = this.#request;
    const { framing } = request;
    const framed =
      framing.kind === "length"
        ? `Content-Length: ${framing.length}\r\n`
        : framing.kind === "chunked"
          ? "Transfer-Encoding: chunked\r\n"
          : "";
    const connection =
      request.upgrade !== undefined
        ? `Connection: Upgrade\r\nUpgrade: ${request.upgrade}\r\n`
        : request.acceptsTrailers
          ? "Connection: TE\r\nTE: trailers\r\n"
          : "";
    this.#upstream?.socket.write(
      `${request.method} ${request.target} HTTP/1.1\r\nHost: ${request.host}\r\n${request.lines}${framed}${connection}${this.#client.forwardedLines(request)}X-Request-Id: ${this.#requestId}\r\n\r\n`,
      "latin1",
    );
    this.#client.pump();
  }

  onDrain(): void {
    this.#client.pump();
  }

  onData(chunk: Buffer): void {
    if (this.#tunnel) {
      this.#sentBytes += chunk.length;
      this.#write(chunk);
      return;
    }
    try {
      let rest: Buffer | undefined = chunk;
      while (this.#answerBody === undefined && rest !== undefined) {
        rest = this.#readHead(rest);
      }
      if (rest !== undefined && this.#answerBody !== undefined && !this.#over) {
        this.#readBody(rest);
      }
    } catch (error) {
      if (!(error instanceof MessageError)) {
        this.#context.onFault(error);
        this.#client.destroy();
        return;
      }
      this.#breakOff(`It sent what is not HTTP: ${error.message}.`);
    }
  }

  onClose({ connected, clean, error }: { connected: boolean; clean: boolean; error: Error | undefined }): void {
    if (this.#over) {
      return;
    }
    if (this.#tunnel) {
      this.#client.end();
      this.#finish(101);
      return;
    }
    if (this.#answerBody !== undefined) {
      if (clean && this.#answerBody.endsWithConnection) {
        this.#endAnswer("");
      } else {
        this.#breakOff("It stopped in the middle of its answer.");
      }
      return;
    }
    this.#answerBytes = undefined;
    this.#upstream = undefined;
    this.#connected = false;
    if (!connected) {
      // Nothing has been sent yet, so any request may try again: a replaced pod listens anew in a moment.
      if (this.#mayHold()) {
        this.#hold();
      } else {
        this.#refuse({
          ...notReady(this.#route as Route),
          detail: `${nameOf(this.#route as Route)} cannot be reached.`,
        });
      }
    } else if (this.#replayable && (this.#reused || this.#resends < MAX_RESENDS) && this.#mayHold()) {
      this.#resends += this.#reused ? 0 : 1;
      this.#context.metrics.retries++;
      this.start();
    } else {
      this.#breakOff(error === undefined ? "It closed the connection without an answer." : "The connection broke.");
    }
  }

  /** Reads an answer's head; returns what follows it, or `undefined` when it is not whole yet. */
  #readHead(chunk: Buffer): Buffer | undefined {
    const bytes = this.#answerBytes === undefined ? chunk : Buffer.concat([this.#answerBytes, chunk]);
    const end = bytes.indexOf(END_OF_HEAD);
    if (end === -1 || end > this.#context.limits.answerHeadBytes) {
      if (bytes.length > this.#context.limits.answerHeadBytes) {
        throw new MessageError(502, "the answer's head is too large");
      }
      this.#answerBytes = bytes;
      return undefined;
    }
    this.#answerBytes = undefined;
    const response = parseAnswerHead(bytes.toString("latin1", 0, end + 2), this.#request.method);
    const rest = bytes.subarray(end + 4);
    if (response.status === 101) {
      this.#startTunnel(response, rest);
      return undefined;
    }
    if (response.status < 200) {
      if (!this.#request.http10) {
        this.#client.socket.write(`HTTP/1.1 ${response.status} ${response.reason}\r\n${response.lines}\r\n`, "latin1");
      }
      return rest.length > 0 ? rest : undefined;
    }
    this.#startAnswer(response);
    return rest;
  }

  #startAnswer(response: ResponseHead): void {
    const { http10, keepAlive } = this.#request;
    this.#answer = response;
    this.#chunkedOut = !http10 && (response.framing.kind === "chunked" || response.framing.kind === "close");
    // A body that is still on its way when the answer says no cannot be told apart from the next request.
    this.#closeAfter =
      !keepAlive ||
      this.#context.draining ||
      (this.wantsBody && (response.status >= 300 || this.#request.expectsContinue));
    this.#out = `HTTP/1.1 ${response.status} ${response.reason}\r\n${response.lines}${missingSecurityFields(response.lines, this.#client.tls)}${this.#chunkedOut ? "Transfer-Encoding: chunked\r\n" : ""}${this.#closeAfter ? "Connection: close\r\n" : ""}\r\n`;
    this.#answerBody = new BodyReader(response.framing, {
      onBody: (slice) => this.#sendAnswerBody(slice),
      onBodyEnd: (trailers) => this.#endAnswer(trailers),
    });
  }

  #readBody(bytes: Buffer): void {
    const body = this.#answerBody as BodyReader;
    if (body.done) {
      this.#endAnswer("", bytes.length > 0);
      return;
    }
    const taken = body.feed(bytes);
    if (taken < bytes.length) {
      // More than the answer that it announced: never reuse such a connection.
      this.#upstream?.socket.destroy();
    }
    if (!this.#over && this.#out !== "") {
      this.#write(this.#takeOut());
    }
  }

  #takeOut(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }

  #sendAnswerBody(slice: Buffer): void {
    if (this.#over) {
      return;
    }
    this.#sentBytes += slice.length;
    if (this.#chunkedOut) {
      this.#out += `${slice.length.toString(16)}\r\n`;
    }
    if (slice.length <= ONE_WRITE_BYTES) {
      this.#out += this.#chunkedOut ? `${slice.toString("latin1")}\r\n` : slice.toString("latin1");
      return;
    }
    const { socket } = this.#client;
    const before = this.#takeOut();
    socket.cork();
    if (before !== "") {
      socket.write(before, "latin1");
    }
    this.#write(slice);
    if (this.#chunkedOut) {
      this.#write("\r\n");
    }
    socket.uncork();
  }

  #write(data: Buffer | string): void {
    const { socket } = this.#client;
    const more = typeof data === "string" ? socket.write(data, "latin1") : socket.write(data);
    if (!more) {
      this.#upstream?.socket.pause();
    }
  }

  #endAnswer(trailers: string, leftover = false): void {
    if (this.#over) {
      return;
    }
    const response = this.#answer as ResponseHead;
    const last = this.#chunkedOut
      ? `0\r\n${this.#request.acceptsTrailers ? filterTrailers(trailers, classifyAnswerField) : ""}\r\n`
      : "";
    const rest = this.#takeOut() + last;
    if (rest !== "") {
      this.#client.socket.write(rest, "latin1");
    }
    const upstream = this.#upstream;
    if (
      upstream !== undefined &&
      response.keepAlive &&
      response.framing.kind !== "close" &&
      !this.wantsBody &&
      !leftover
    ) {
      this.#upstream = undefined;
      this.#context.pool.release(upstream, response.idleSeconds);
    }
    this.#finish(response.status);
    this.#client.onExchangeEnd(
      this.#closeAfter || (response.framing.kind === "close" && this.#request.http10),
      this.wantsBody,
    );
  }

  #sendBody(slice: Buffer): void {
    this.#context.metrics.bytesIn += slice.length;
    const socket = this.#upstream?.socket;
    if (socket === undefined) {
      return;
    }
    if (this.#request.framing.kind !== "chunked") {
      socket.write(slice);
      return;
    }
    socket.cork();
    socket.write(`${slice.length.toString(16)}\r\n`, "latin1");
    socket.write(slice);
    socket.write("\r\n", "latin1");
    socket.uncork();
  }

  #endBody(trailers: string): void {
    if (this.#request.framing.kind === "chunked") {
      this.#upstream?.socket.write(`0\r\n${filterRequestTrailers(trailers)}\r\n`, "latin1");
    }
  }

  #startTunnel(response: ResponseHead, rest: Buffer): void {
    if (this.#request.upgrade === undefined || response.upgrade === undefined) {
      throw new MessageError(502, "it changed protocols without being asked");
    }
    this.#tunnel = true;
    this.#client.socket.write(
      `HTTP/1.1 101 ${response.reason}\r\n${response.lines}Connection: Upgrade\r\nUpgrade: ${response.upgrade}\r\n\r\n`,
      "latin1",
    );
    this.#upstream?.socket.setKeepAlive(true, 60_000);
    if (rest.length > 0) {
      this.onData(rest);
    }
    this.#client.pump();
  }

  #mayHold(): boolean {
    const { limits, held } = this.#context;
    const longest = this.#route?.deploying ? limits.deployTimeout : limits.holdTimeout;
    return performance.now() - this.#started < longest && (this.#held || held < limits.heldRequests);
  }

  #hold(): void {
    if (!this.#held) {
      this.#held = true;
      this.#context.held++;
      this.#context.metrics.retries++;
    }
    this.#timer = setTimeout(() => this.start(), this.#retryMilliseconds);
    this.#retryMilliseconds = Math.min(MAX_RETRY_MILLISECONDS, this.#retryMilliseconds * 2);
  }

  #unhold(): void {
    clearTimeout(this.#timer);
    if (this.#held) {
      this.#held = false;
      this.#context.held--;
    }
  }

  /** The upstream failed after the request was sent: 502, or a broken connection when the answer has begun. */
  #breakOff(what: string): void {
    if (this.#answer === undefined) {
      this.#refuse({ status: 502, detail: `${nameOf(this.#route as Route)} failed to answer. ${what}` });
      return;
    }
    this.#finish(502);
    this.#client.destroy();
  }

  #refuse(response: OwnResponse): void {
    const close = !this.#request.keepAlive || this.wantsBody || this.#context.draining;
    this.#sentBytes = this.#client.response({ ...response, requestId: this.#requestId }, this.#request, close);
    const unread = this.wantsBody;
    this.#finish(response.status);
    this.#client.onExchangeEnd(close, unread);
  }

  #finish(status: number): void {
    this.#over = true;
    this.#unhold();
    if (this.#tunnel) {
      // What the client said last is still delivered.
      this.#upstream?.socket.destroySoon();
    } else {
      this.#upstream?.socket.destroy();
    }
    const milliseconds = performance.now() - this.#started;
    const { method, host, target } = this.#request;
    const query = target.indexOf("?");
    const { metrics, accessLog } = this.#context;
    metrics.bytesOut += this.#sentBytes;
    metrics.count(this.#route?.service ?? "none", status, milliseconds / 1000);
    accessLog.add({
      method,
      host,
      path: query === -1 ? target : target.slice(0, query),
      status,
      ms: Math.round(milliseconds),
      bytes: this.#sentBytes,
      service: this.#route?.service,
      client: this.#client.address,
      requestId: this.#requestId,
    });
  }
}

function nameOf({ service }: Route): string {
  return `The service ${service}`;
}

function notReady(route: Route): OwnResponse {
  const state = route.upstream === null ? "has no pod" : route.deploying ? "is being deployed" : "is not ready";
  return {
    status: 503,
    detail: `${nameOf(route)} ${state}${route.reason ? `: ${route.reason}` : ""}. Try again in a moment.`,
    headers: { "Retry-After": route.deploying ? 2 : 5 },
  };
}
