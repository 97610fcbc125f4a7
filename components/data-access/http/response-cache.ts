import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";

import type { Logger } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

import type { Basis } from "../layers/basis.ts";
import { notesOf } from "./request-notes.ts";

const MAX_RESPONSES = 5000;
/** Longer addresses are answered the usual way. */
const MAX_URL_CHARACTERS = 2000;
/** Said of the body, which a 304 does not have; or of one connection. */
const BODY_HEADERS = new Set(["content-type", "content-length"]);
const CONNECTION_HEADERS = new Set(["connection", "keep-alive", "date"]);

interface CachedResponse {
  readonly basis: Basis;
  readonly recall: () => Uint8Array | undefined;
  readonly etag: string;
  /** Names and values, one after the other. */
  readonly head: readonly string[];
  readonly headWithoutBody: readonly string[];
}

/**
 * Responses with pictures in memory, so that the same request is answered without routing and rendering. A response is used again only
 * while its layers and items hold, and while each file that the picture was made from is the same. Requests with a login are not
 * answered here: the catalogue is asked each time what their sender may see.
 */
export interface ResponseCache {
  /** Keeps the response to a request if its picture can be found again; called once its head is complete. */
  readonly keep: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Answers a request from memory; false where it has to be answered otherwise. */
  readonly response: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly clear: () => void;
}

export function createResponseCache(logger: Logger): ResponseCache {
  const responses = new Map<string, CachedResponse>();

  return {
    keep: ({ raw }, reply) => {
      const { basis, recall } = notesOf(raw);
      const key = toKey(raw);
      const etag = reply.getHeader("etag");
      if (
        recall === undefined ||
        key === undefined ||
        basis === undefined ||
        typeof etag !== "string" ||
        reply.statusCode !== 200
      ) {
        return;
      }
      const fields = Object.entries(reply.getHeaders()).filter(([name]) => !CONNECTION_HEADERS.has(name));
      const flatten = (list: typeof fields) => list.flatMap(([name, value]) => [name, String(value)]);
      responses.delete(key);
      responses.set(key, {
        basis,
        recall,
        etag,
        head: flatten(fields),
        headWithoutBody: flatten(fields.filter(([name]) => !BODY_HEADERS.has(name))),
      });
      for (const oldest of responses.keys()) {
        if (responses.size <= MAX_RESPONSES) {
          break;
        }
        responses.delete(oldest);
      }
    },
    response: (request, response) => {
      const key = toKey(request);
      const known = key === undefined ? undefined : responses.get(key);
      if (key === undefined || known === undefined) {
        return false;
      }
      const bytes = known.basis.holds() ? known.recall() : undefined;
      if (bytes === undefined) {
        responses.delete(key);
        return false;
      }
      if (request.headers["if-none-match"]?.split(/,\s*/).includes(known.etag) === true) {
        response.writeHead(304, known.headWithoutBody as string[]).end();
      } else {
        response.writeHead(200, known.head as string[]).end(bytes);
      }
      const path = request.url?.split("?", 1)[0];
      logger.info({ method: "GET", path, status: response.statusCode, ms: 0 }, "request");
      return true;
    },
    clear: () => responses.clear(),
  };
}

/** Lets requests be answered before the server's own listeners see them. */
export function respondFirst(server: Server, reply: ResponseCache["response"]): void {
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    if (!reply(request, response)) {
      listeners.forEach((listener) => listener.call(server, request, response));
    }
  });
}

const hasLogin = ({ headers }: IncomingMessage): boolean => headers.authorization !== undefined;

/** Everything of a request that its response depends on; `undefined` for those that are not answered from memory. */
function toKey(request: IncomingMessage): string | undefined {
  const { method, url = "", headers } = request;
  return method !== "GET" || url.length > MAX_URL_CHARACTERS || hasLogin(request)
    ? undefined
    : `${String(headers["x-forwarded-proto"])}\n${String(headers["x-forwarded-host"])}\n${headers.host}\n${headers.accept}\n${url}`;
}
