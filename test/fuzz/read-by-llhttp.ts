import { createRequire } from "node:module";

import { type Message, type Reading, toOriginForm } from "./messages.ts";

/** As much of Node.js's own parser as is needed: llhttp, synchronously. */
interface Parser {
  [callback: number]: unknown;
  initialize(type: number, resource: object): void;
  execute(bytes: Buffer): number | (Error & { readonly code?: string; readonly reason?: string });
  /** Frees it: what is native about it is never collected. */
  close(): void;
}
interface Binding {
  readonly HTTPParser: {
    new (): Parser;
    readonly REQUEST: number;
    readonly kOnHeaders: number;
    readonly kOnHeadersComplete: number;
    readonly kOnBody: number;
    readonly kOnMessageComplete: number;
  };
  readonly allMethods?: readonly string[];
  readonly methods: readonly string[];
}

// The public way to it is a server with sockets, a hundred times slower; Node.js warns of this one, which only its own tests need.
const { HTTPParser, allMethods, methods } = createRequire(import.meta.url)("_http_common") as Binding;

/** Reads a stream by llhttp without any of its leniencies. */
export function readByLlhttp(pieces: readonly Buffer[]): Reading {
  const messages: Message[] = [];
  const parser = new HTTPParser();
  let current = { method: "", target: "", body: "" };
  let isLast = false;
  let early = "";
  parser.initialize(HTTPParser.REQUEST, {});
  parser[HTTPParser.kOnHeaders] = (_headers: string[], url: string) => {
    early += url;
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    _major: number,
    _minor: number,
    _headers: string[] | undefined,
    method: number,
    url: string | undefined,
    _status: unknown,
    _message: unknown,
    upgrade: boolean,
    keepAlive: boolean,
  ) => {
    current = {
      method: (allMethods ?? methods)[method] ?? "",
      target: toOriginForm(early + (url ?? "")),
      body: "",
    };
    early = "";
    isLast = upgrade || !keepAlive;
    return 0;
  };
  parser[HTTPParser.kOnBody] = (bytes: Buffer) => {
    current.body += bytes.toString("latin1");
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    messages.push(current);
    // Trailers come by the way of fields that did not fit, and their address with them.
    early = "";
  };
  try {
    for (const piece of pieces) {
      const outcome = parser.execute(piece);
      if (outcome instanceof Error) {
        return { messages, end: "refused", why: outcome.reason ?? outcome.message };
      }
      if (outcome < piece.length) {
        return { messages, end: "closed" };
      }
    }
    return { messages, end: isLast && messages.length > 0 ? "closed" : "waiting" };
  } finally {
    parser.close();
  }
}
