import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** The blob agent of this node, for one step. Every call goes on while the agent is away, for as long as `patienceMs`. */
export interface AgentClient {
  readonly readInputs: () => Promise<string>;
  /** Writes a blob to a path where nothing is, and checks it. */
  readonly fetchBlob: (sha256: string, size: number, path: string) => Promise<void>;
  readonly storeBlob: (sha256: string, size: number, path: string) => Promise<void>;
  readonly storeOutputs: (text: string) => Promise<void>;
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
  readonly patienceMs: number;
}

interface Sent {
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly size?: number;
  readonly open?: () => Readable;
}

const SILENCE_MS = 90_000;
const INITIAL_BACKOFF_MS = 100;
const MAX_PAUSE_MS = 5000;

/** The agent refuses, and would again. */
class RefusedError extends Error {
  override readonly name = "RefusedError";
}

export function createAgentClient({ url, job, pod, tokenFile, patienceMs }: AgentClientOptions): AgentClient {
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
    const text = await readText(response).catch(() => "");
    const message = `the blob agent responds ${status}: ${text.trim().slice(0, 300)}`;
    // A token that ended is replaced; bytes that were damaged on their way are sent again.
    throw status >= 500 || [401, 408, 422, 429].includes(status) ? new Error(message) : new RefusedError(message);
  };
  const retry = async <T>(work: () => Promise<T>): Promise<T> => {
    const until = Date.now() + patienceMs;
    for (let pause = INITIAL_BACKOFF_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof RefusedError || Date.now() + pause > until) {
          throw error;
        }
      }
      await sleep(pause);
    }
  };
  const drain = async (response: IncomingMessage): Promise<number> => {
    response.resume();
    await finished(response);
    return response.statusCode ?? 0;
  };
  return {
    readInputs: () => retry(async () => readText(await send({ method: "GET", path: `steps/${pod}/inputs` }))),
    fetchBlob: (sha256, size, path) =>
      retry(async () => {
        const response = await send({ method: "GET", path: `blobs/${sha256}` });
        const hash = createHash("sha256");
        let seen = 0;
        response.on("data", (chunk: Buffer) => {
          hash.update(chunk);
          seen += chunk.length;
        });
        try {
          await pipeline(response, createWriteStream(path, { flags: "wx", mode: 0o600 }));
          if (seen !== size || hash.digest("hex") !== sha256) {
            throw new Error("what came is not what was stored");
          }
        } catch (error) {
          await rm(path, { force: true });
          throw error;
        }
      }),
    storeBlob: (sha256, size, path) =>
      retry(async () => {
        const open = () => createReadStream(path, { highWaterMark: 2 ** 18 });
        await drain(await send({ method: "PUT", path: `blobs/${sha256}`, size, open }));
      }),
    storeOutputs: (text) =>
      retry(async () => {
        const body = Buffer.from(text);
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

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
