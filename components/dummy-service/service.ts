import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";

import type { Logger } from "@swath/service";

interface DummyServiceDeps {
  readonly logger: Logger;
  readonly maxEchoedBytes: number;
}

/**
 * Answers every request with what arrived, as JSON: method, path, headers, query, body. `/healthz` answers that it is well.
 * Raw `node:http`, so that it shows headers exactly as they came and adds little to what is measured in front of it.
 */
export function createDummyService({ logger, maxEchoedBytes }: DummyServiceDeps): Server {
  const server = createServer((request, response) => {
    if (request.url === "/healthz") {
      sendJson(response, { status: "ok" });
      return;
    }
    echo(request, response, maxEchoedBytes).catch((error: unknown) => {
      // The client went away while sending: nobody is left to answer.
      logger.info({ err: error }, "request ended early");
      response.destroy();
    });
  });
  server.on("upgrade", (request, socket) => {
    // Says so plainly instead of hanging: this service has nothing to upgrade to.
    socket.end(`HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    logger.info({ path: request.url }, "refused an upgrade");
  });
  return server;
}

async function echo(request: IncomingMessage, response: ServerResponse, maxEchoedBytes: number): Promise<void> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (keptBytes < maxEchoedBytes) {
      kept.push(chunk.subarray(0, maxEchoedBytes - keptBytes));
      keptBytes = Math.min(maxEchoedBytes, keptBytes + chunk.length);
    }
  }
  const [path = "/", query = ""] = splitOnce(request.url ?? "/", "?");
  const body = Buffer.concat(kept);
  const text = body.toString("utf8");
  const isText = Buffer.from(text, "utf8").equals(body);
  sendJson(response, {
    method: request.method,
    path,
    query: groupValues(new URLSearchParams(query)),
    headers: request.headers,
    body: isText ? text : body.toString("base64"),
    ...(!isText && { bodyEncoding: "base64" }),
    bodyBytes: bytes,
    ...(bytes > keptBytes && { bodyTruncatedTo: keptBytes }),
  });
}

function sendJson(response: ServerResponse, value: unknown): void {
  const body = `${JSON.stringify(value, null, 2)}\n`;
  response
    .writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store",
    })
    .end(body);
}

/** One value as a string, several as an array, as most echo services do. */
function groupValues(params: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(params.keys())].map((key) => {
      const values = params.getAll(key);
      return [key, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
