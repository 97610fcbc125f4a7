import type { Duplex } from "node:stream";

import { type OwnResponse, renderResponse } from "./answers.ts";
import { readChallenge } from "./challenge.ts";
import type { IngressContext } from "./context.ts";
import { Exchange } from "./exchange.ts";
import { MessageError } from "./message-error.ts";
import { type RequestHead, cutRequestHead, parseRequestHead } from "./request-head.ts";
import { hostOf } from "./route-table.ts";
import type { Origin } from "./trusted-proxies.ts";

const LINGER_MILLISECONDS = 2000;

/** What the listener knows of its connections. */
export interface Entrance {
  readonly tls: boolean;
  readonly publicPort: number;
}

/** A connection of HTTP/1.1: a socket, or a stream of HTTP/2 that is read and written as one. */
export type ClientSocket = Duplex & {
  readonly remoteAddress?: string | undefined;
  readonly bytesRead: number;
  readonly bytesWritten: number;
};

/** The other end's address, IPv4 in its usual form. */
export const addressOf = ({ remoteAddress = "" }: Pick<ClientSocket, "remoteAddress">): string =>
  remoteAddress.replace(/^::ffff:/, "");

export const isLoopback = (address: string): boolean => address === "::1" || address.startsWith("127.");

/** A client's connection: reads one request after the other and lets an exchange answer each. */
export class ClientConnection {
  readonly socket: ClientSocket;
  /** The client's address, IPv4 in its usual form. */
  readonly address: string;
  readonly loopback: boolean;
  readonly #context: IngressContext;
  readonly #entrance: Entrance;
  #pending: Buffer | undefined;
  #exchange: Exchange | undefined;
  #pumping = false;
  #closing = false;
  /** When the connection began to wait for what it waits for now, in milliseconds of `performance.now()`. */
  #since = performance.now();
  #progress = 0;

  constructor(socket: ClientSocket, context: IngressContext, entrance: Entrance) {
    this.socket = socket;
    this.address = addressOf(socket);
    this.loopback = isLoopback(this.address);
    this.#context = context;
    this.#entrance = entrance;
    socket
      .on("data", (chunk: Buffer) => this.#onData(chunk))
      .on("drain", () => {
        this.#exchange?.onClientDrain();
        this.pump();
      })
      // A client that ends its side no longer waits for an answer; answers written before still go out.
      .on("end", () => this.#exchange?.abort())
      .on("error", () => {})
      .on("close", () => this.#exchange?.abort());
  }

  /** Whether the client speaks TLS with the ingress. */
  get tls(): boolean {
    return this.#entrance.tls;
  }

  /** Whether it is between two requests. */
  get idle(): boolean {
    return this.#exchange === undefined && this.#pending === undefined && !this.#closing;
  }

  get tunnel(): boolean {
    return this.#exchange?.tunnel ?? false;
  }

  destroy(): void {
    this.socket.destroy();
  }

  end(): void {
    this.#closing = true;
    // Closing both directions at once would reset the connection while the client still sends, and lose it our answer.
    this.socket.end(() => setTimeout(() => this.destroy(), LINGER_MILLISECONDS).unref());
  }

  /** Handles what has arrived, as far as that is possible now; the rest waits and holds the client back. */
  pump(): void {
    if (this.#pumping) {
      return;
    }
    this.#pumping = true;
    try {
      while (this.#pending !== undefined && !this.#closing && this.#take(this.#pending)) {
        // Each round takes some bytes.
      }
    } catch (error) {
      if (error instanceof MessageError) {
        this.#onBroken(error);
      } else {
        // A defect of the ingress ends this connection, not those of everybody else.
        this.#context.onFault(error);
        this.destroy();
      }
    } finally {
      this.#pumping = false;
    }
    if (this.#pending !== undefined && !this.#closing && this.#isBlocked()) {
      this.socket.pause();
    } else {
      this.socket.resume();
    }
  }

  /** Ends what stands still; called every second. */
  checkTimeouts(now: number): void {
    const { limits } = this.#context;
    if (this.#exchange === undefined) {
      const started = this.#pending !== undefined;
      if (now - this.#since > (started ? limits.headTimeout : limits.idleTimeout)) {
        if (!started || this.#closing) {
          this.destroy();
        } else {
          this.#onBroken(new MessageError(408, "the request's head did not arrive in time"));
        }
      }
      return;
    }
    const progress = this.socket.bytesRead + this.socket.bytesWritten;
    const stalledResponse = this.socket.writableNeedDrain;
    if (progress !== this.#progress || this.tunnel || (!stalledResponse && !this.#exchange.waitsForClient)) {
      this.#progress = progress;
      this.#since = now;
    } else if (now - this.#since > (stalledResponse ? limits.answerStallTimeout : limits.bodyStallTimeout)) {
      if (stalledResponse) {
        this.destroy();
      } else {
        this.#exchange.fail(new MessageError(408, "the body stopped arriving"));
      }
    }
  }

  onExchangeEnd(close: boolean, unread: boolean): void {
    this.#exchange = undefined;
    this.#since = performance.now();
    if (!close && !unread && !this.#context.draining) {
      this.pump();
      return;
    }
    this.end();
    if (unread) {
      // What still arrives of the body is read and thrown away.
      this.#pending = undefined;
      this.socket.resume();
    }
  }

  /** Answers by itself; returns the bytes of the answer's body. */
  response(response: OwnResponse, request: { accept: string; method: string }, close: boolean): number {
    const { text, bodyBytes } = renderResponse(response, { ...request, close, tls: this.tls });
    this.socket.write(text);
    return bodyBytes;
  }

  /** The names that exist are told to this machine's own clients only. */
  unknownHost(host: string): OwnResponse {
    const name = hostOf(host).slice(0, 253) || "(none)";
    const { routes } = this.#context.routes;
    const hosts = routes.map((route) => route.host).sort();
    return {
      status: 404,
      detail: `There is no service with the host name ${name} here.${this.loopback && hosts.length === 0 ? " Nothing is deployed yet." : ""}`,
      ...(this.loopback && hosts.length > 0 && { hosts }),
    };
  }

  /** Who sent a request: the other end of the connection, or whom a trusted proxy there acts for. */
  #originOf(request: RequestHead): Origin {
    return this.#context.trustedProxies.originOf({ address: this.address, tls: this.#entrance.tls }, request);
  }

  /** The forwarding fields: what this end knows, whatever the client claimed. */
  forwardedLines(request: RequestHead): string {
    const { host } = request;
    const { address, tls } = this.#originOf(request);
    // A proxy that ends TLS is reached at the port of https, whatever the one is that it comes to.
    const ownPort = tls === this.#entrance.tls ? this.#entrance.publicPort : tls ? 443 : 80;
    const port = /:(\d+)$/.exec(host)?.[1] ?? ownPort;
    return `X-Forwarded-For: ${address}\r\nX-Forwarded-Proto: ${tls ? "https" : "http"}\r\nX-Forwarded-Host: ${host}\r\nX-Forwarded-Port: ${port}\r\nX-Real-IP: ${address}\r\n`;
  }

  #onData(chunk: Buffer): void {
    this.#context.freeBuffers(chunk.length);
    if (this.#closing) {
      return;
    }
    if (this.#pending === undefined) {
      this.#pending = chunk;
      if (this.#exchange === undefined) {
        this.#since = performance.now();
      }
    } else {
      this.#pending = Buffer.concat([this.#pending, chunk]);
    }
    this.pump();
  }

  #isBlocked(): boolean {
    return this.#exchange !== undefined || this.socket.writableNeedDrain;
  }

  /** Takes a head or a part of a body off `bytes`; returns whether there may be more to take. */
  #take(bytes: Buffer): boolean {
    if (this.#exchange === undefined) {
      return !this.socket.writableNeedDrain && this.#takeHead(bytes);
    }
    if (!(this.#exchange.wantsBody || this.#exchange.tunnel) || !this.#exchange.takesBytes) {
      return false;
    }
    const taken = this.#exchange.feed(bytes);
    if (!this.#closing && this.#pending === bytes) {
      this.#pending = taken < bytes.length ? bytes.subarray(taken) : undefined;
    }
    return true;
  }

  #takeHead(bytes: Buffer): boolean {
    const head = cutRequestHead(bytes, this.#context.limits.requestHeadBytes);
    if (head === undefined) {
      return false;
    }
    const request = parseRequestHead(head.text);
    this.#pending = head.length < bytes.length ? bytes.subarray(head.length) : undefined;
    this.#begin(request);
    return true;
  }

  #begin(request: RequestHead): void {
    const { redirectPort, challengeFolder } = this.#context;
    if (
      !this.#entrance.tls &&
      challengeFolder !== undefined &&
      request.target.startsWith("/.well-known/acme-challenge/")
    ) {
      const authorization = readChallenge(challengeFolder, request.target);
      if (authorization !== undefined) {
        this.socket.end(
          `HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: ${authorization.length}\r\nConnection: close\r\n\r\n${authorization}`,
        );
        this.#closing = true;
        return;
      }
    }
    if (
      redirectPort !== undefined &&
      !this.#originOf(request).tls &&
      this.#context.routes.find(request.host) !== undefined
    ) {
      this.#redirect(request, redirectPort);
      return;
    }
    this.#exchange = new Exchange(this.#context, this, request);
    this.#progress = -1;
    this.#exchange.start();
  }

  #redirect(request: RequestHead, port: number): void {
    const host = request.host.replace(/:\d*$/, "");
    const location = `https://${host}${port === 443 ? "" : `:${port}`}${request.target === "*" ? "/" : request.target}`;
    const unread = request.framing.kind !== "none";
    const close = !request.keepAlive || unread || this.#context.draining;
    const response = { status: 308, detail: `This is at ${location}.`, headers: { Location: location } };
    this.response(response, request, close);
    this.#context.metrics.count("redirect", 308, 0);
    this.onExchangeEnd(close, unread);
  }

  /** Nothing after a broken message can be trusted, so the connection ends with the answer. */
  #onBroken(error: MessageError): void {
    if (this.#exchange !== undefined) {
      this.#exchange.fail(error);
      return;
    }
    const response = { status: error.status, detail: `The request cannot be read: ${error.message}.` };
    this.response(response, { accept: "", method: "" }, true);
    this.#context.metrics.count("none", error.status, 0);
    this.onExchangeEnd(true, true);
  }
}
