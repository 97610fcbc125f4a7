import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { finished, pipeline } from "node:stream/promises";
import { retryWhileUnavailable } from "../execution/retry-while-unavailable.ts";
import { saveBlob } from "./save-blob.ts";

/** The blob agent of this node, for one step. Every call goes on while the agent is away, for as long as `timeoutMs`. */
export interface AgentClient {
  readonly readInputs: () => Promise<string>;
  /** Writes a blob to a path where nothing is, and checks it. */
  readonly fetchBlob: (sha256: string, size: number, path: string) => Promise<void>;
  readonly storeBlob: (sha256: string, size: number, path: string) => Promise<void>;
  readonly storeOutputs: (document: string) => Promise<void>;
  /** Waits until the step's tool has ended. */
  readonly waitForEnd: () => Promise<void>;
  readonly close: () => void;
}

export interface AgentClientOptions {
  readonly url: string;
  readonly job: string;
  readonly pod: string;
  /** Read for each request: it is replaced before it ends. */
  readonly tokenFile: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Sent {
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly size?: number;
  readonly open?: () => Readable;
}

const SILENCE_MS = 90_000;

/** The agent refuses, and would again. */
class RefusedError extends Error {
  override readonly name = "RefusedError";
}

export function createAgentClient({ url, job, pod, tokenFile, timeoutMs, signal }: AgentClientOptions): AgentClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const ofJob = `${url.replace(/\/+$/, "")}/jobs/${job}`;
  const send = async ({ method, path, size, open }: Sent): Promise<IncomingMessage> => {
    const token = (await readFile(tokenFile, "utf8")).trim();
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = request(
      `${ofJob}/${path}`,
      {
        method,
        agent,
        timeout: SILENCE_MS,
        headers: { authorization: `Bearer ${token}`, ...(size !== undefined && { "content-length": size }) },
      },
      resolve,
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error("the blob agent does not respond")));
    outgoing.on("error", reject);
    if (open === undefined) {
      outgoing.end();
    } else {
      // A response that comes before the end of the body says why.
      pipeline(open(), outgoing).catch(reject);
    }
    const response = await promise;
    const status = response.statusCode ?? 0;
    if (status < 300) {
      return response;
    }
    const reason = await text(response).catch(() => "");
    const message = `the blob agent responds ${status}: ${reason.trim().slice(0, 300)}`;
    // A token that ended is replaced; bytes that were damaged on their way are sent again.
    throw status >= 500 || [401, 408, 422, 429].includes(status) ? new Error(message) : new RefusedError(message);
  };
  const retry = <T>(work: () => Promise<T>): Promise<T> =>
    retryWhileUnavailable(work, {
      signal,
      timeout: timeoutMs,
      isTransient: (error) => !(error instanceof RefusedError),
    });
  const drain = async (response: IncomingMessage): Promise<number> => {
    response.resume();
    await finished(response);
    return response.statusCode ?? 0;
  };
  return {
    readInputs: () => retry(async () => text(await send({ method: "GET", path: `steps/${pod}/inputs` }))),
    fetchBlob: (sha256, size, path) =>
      retry(async () => {
        const response = await send({ method: "GET", path: `blobs/${sha256}` });
        await saveBlob(response, path, { sha256, size });
      }),
    storeBlob: (sha256, size, path) =>
      retry(async () => {
        const open = () => createReadStream(path, { highWaterMark: 2 ** 18 });
        await drain(await send({ method: "PUT", path: `blobs/${sha256}`, size, open }));
      }),
    storeOutputs: (document) =>
      retry(async () => {
        const body = Buffer.from(document);
        await drain(
          await send({
            method: "PUT",
            path: `steps/${pod}/outputs`,
            size: body.length,
            open: () => Readable.from([body]),
          }),
        );
      }),
    waitForEnd: async () => {
      while ((await retry(async () => drain(await send({ method: "GET", path: `steps/${pod}/ended` })))) === 204) {
        // Asked again at once: the agent holds the request.
      }
    },
    close: () => agent.destroy(),
  };
}
