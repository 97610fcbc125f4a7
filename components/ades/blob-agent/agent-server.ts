import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

import { type Logger, drainBody, readBearer } from "@swath/service";

import { type BlobStore, MAX_DOCUMENT_BYTES } from "../step-files/blob-store.ts";
import { INPUTS, OUTPUTS, isSha256, parseStepDocument } from "../step-files/documents.ts";
import { readJobToken } from "../step-files/job-token.ts";
import { StagingError } from "../staging/errors.ts";
import type { BlobCache } from "./blob-cache.ts";
import type { EndedTools } from "./ended-tools.ts";

export interface AgentDeps {
  readonly store: BlobStore;
  readonly cache: BlobCache;
  readonly tools: Pick<EndedTools, "wait">;
  readonly secrets: readonly (string | undefined)[];
  readonly logger: Logger;
  readonly onStored: (bytes: number) => void;
}

/** Milliseconds that a request for a tool's end is held. */
const LONG_POLL_MS = 25_000;
/** Of one blob: what an object storage takes in ten thousand parts. */
const MAX_BLOB_BYTES = 5 * 2 ** 40;
const PATH = /^\/jobs\/([a-z0-9-]{1,63})\/(?:blobs\/([0-9a-f]{64})|steps\/([a-z0-9.-]{1,63})\/(inputs|outputs|ended))$/;

/** A request that is refused. */
class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Step {
  readonly job: string;
  readonly signal: AbortSignal;
}

/**
 * Files of steps, for the containers that the service adds to tools' pods:
 *
 *     GET, PUT /jobs/{job}/blobs/{sha256}
 *     GET      /jobs/{job}/steps/{pod}/inputs    what the step starts with
 *     PUT      /jobs/{job}/steps/{pod}/outputs   what it leaves
 *     GET      /jobs/{job}/steps/{pod}/ended     200 when the tool has ended, 204 when it runs on
 *
 * Each with a token that opens the one job.
 */
export function createAgentServer(deps: AgentDeps): Server {
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("the client went away")));
    handle(deps, request, response, gone.signal).catch((error: unknown) => {
      const { status, message } = toRefusal(error);
      if (status >= 500 && !gone.signal.aborted) {
        deps.logger.warn({ err: error, path: request.url }, "request failed");
      }
      if (response.headersSent) {
        response.destroy();
        return;
      }
      response.writeHead(status, { "content-type": "text/plain" }).end(`${message}\n`);
      drainBody(request);
    });
  });
  // A blob of many gigabytes may take its time; silence is bounded below.
  server.requestTimeout = 0;
  server.on("connection", (socket) => socket.setTimeout(120_000, () => socket.destroy()));
  return server;
}

function toRefusal(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof Refusal) {
    return error;
  }
  if (error instanceof Error && error.name === "BadDigest") {
    return { status: 422, message: error.message };
  }
  const isUnavailable = error instanceof StagingError && error.temporary;
  return { status: isUnavailable ? 503 : 502, message: error instanceof Error ? error.message : "unknown error" };
}

async function handle(
  deps: AgentDeps,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const opened = readJobToken(deps.secrets, readBearer(request.headers.authorization));
  if (opened === undefined) {
    throw new Refusal(401, "a token of a job is required");
  }
  const [path = "", job = "", sha256, pod = "", what = ""] = PATH.exec(request.url ?? "") ?? [];
  if (path === "") {
    throw new Refusal(404, "not found");
  }
  if (job !== opened) {
    throw new Refusal(403, "the token is another job's");
  }
  const step = { job, signal };
  const action = `${request.method ?? ""} ${sha256 === undefined ? what : "blob"}`;
  switch (action) {
    case "GET blob":
      return sendBlob(deps, step, sha256 ?? "", response);
    case "PUT blob":
      return storeBlob(deps, step, sha256 ?? "", request, response);
    case "GET inputs":
      return sendInputs(deps, step, pod, response);
    case "PUT outputs":
      return storeOutputs(deps, step, pod, request, response);
    case "GET ended":
      return sendEnd(deps, step, pod, response);
    default:
      throw new Refusal(405, "method not allowed");
  }
}

async function sendBlob({ cache }: AgentDeps, { job, signal }: Step, sha256: string, response: ServerResponse) {
  // The fetch serves others as well: it goes on when this client goes away.
  const blob = await cache.read(job, sha256, AbortSignal.timeout(3_600_000));
  if (blob === undefined) {
    throw new Refusal(404, "the job has no such blob");
  }
  response.writeHead(200, { "content-type": "application/octet-stream", "content-length": blob.size });
  await pipeline(blob.body, response, { signal });
}

async function storeBlob(
  { store, onStored }: AgentDeps,
  { job, signal }: Step,
  sha256: string,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const size = readLength(request, MAX_BLOB_BYTES);
  if (!isSha256(sha256)) {
    throw new Refusal(404, "not found");
  }
  await store.write(job, { sha256, size }, request, signal);
  onStored(size);
  response.writeHead(201, { "content-length": 0 }).end();
}

async function sendInputs({ store }: AgentDeps, { job, signal }: Step, pod: string, response: ServerResponse) {
  const document = await store.readDocument(job, `steps/${pod}/${INPUTS}`, signal);
  if (document === undefined) {
    throw new Refusal(404, "the job has no such step");
  }
  response.writeHead(200, { "content-type": "application/json" }).end(document);
}

async function storeOutputs(
  { store }: AgentDeps,
  { job, signal }: Step,
  pod: string,
  request: IncomingMessage,
  response: ServerResponse,
) {
  readLength(request, MAX_DOCUMENT_BYTES);
  const document = await text(request);
  try {
    parseStepDocument(document);
  } catch (error) {
    throw new Refusal(400, (error as Error).message);
  }
  await store.writeDocument(job, `steps/${pod}/${OUTPUTS}`, document, signal);
  response.writeHead(201, { "content-length": 0 }).end();
}

async function sendEnd({ tools }: AgentDeps, { job, signal }: Step, pod: string, response: ServerResponse) {
  const state = await tools.wait(job, pod, LONG_POLL_MS, signal);
  if (state === "gone") {
    throw new Refusal(404, "the job has no such pod");
  }
  response.writeHead(state === "ended" ? 200 : 204, { "content-length": 0 }).end();
}

function readLength({ headers }: IncomingMessage, max: number): number {
  const length = Number(headers["content-length"] ?? Number.NaN);
  if (!Number.isSafeInteger(length) || length < 0) {
    throw new Refusal(411, "content-length is required");
  }
  if (length > max) {
    throw new Refusal(413, `content-length must be at most ${max}`);
  }
  return length;
}
