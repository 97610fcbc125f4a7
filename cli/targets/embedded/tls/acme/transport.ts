import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { LRUCache } from "lru-cache";
import { Agent, type Dispatcher, request } from "undici";

import { AcmeConnectionError, AcmeError, AcmeProblem, type Problem } from "./problem.ts";

export interface TransportResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** HTTPS to one ACME server, with bounds on time and size. */
export interface Transport {
  /**
   * @throws {AcmeConnectionError} when nobody answered
   * @throws {AcmeProblem} when the server refused; `badNonce` is left to the client, which signs again
   */
  readonly send: (request: TransportRequest) => Promise<TransportResponse>;
  /** What the last response of this URL asked to wait, in milliseconds. */
  readonly retryAfterMs: (url: string) => number | undefined;
  readonly close: () => Promise<void>;
}

interface TransportRequest {
  readonly url: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const TIMEOUT_MS = 30_000;
/** A chain is a few KiB; the largest sensible object is an order of a hundred names. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** In a row, for one URL: the client gives up after five, and this is the one after. */
const MAX_BAD_NONCES = 5;
const MAX_REMEMBERED_URLS = 200;

/** @param caFile certificate authorities to trust beside the public ones */
export function createTransport(caFile: string | undefined, now: () => number): Transport {
  const agent = new Agent({ connect: { timeout: TIMEOUT_MS, ...(caFile !== undefined && { ca: readCas(caFile) }) } });
  const waits = new LRUCache<string, number>({ max: MAX_REMEMBERED_URLS });
  const badNonces = new LRUCache<string, number>({ max: MAX_REMEMBERED_URLS });
  return {
    send: async (sent) => {
      const response = await exchange(sent, agent);
      const retryAfterMs = parseRetryAfter(response.headers["retry-after"], now());
      if (retryAfterMs === undefined) {
        waits.delete(sent.url);
      } else {
        waits.set(sent.url, retryAfterMs);
      }
      if (response.status < 400) {
        badNonces.delete(sent.url);
        return response;
      }
      const problem = parseProblem(response.text);
      const refusal = new AcmeProblem(problem, { status: response.status, retryAfterMs });
      const count = refusal.kind === "badNonce" ? (badNonces.get(sent.url) ?? 0) + 1 : 0;
      if (count === 0 || count > MAX_BAD_NONCES) {
        badNonces.delete(sent.url);
        throw refusal;
      }
      badNonces.set(sent.url, count);
      return response;
    },
    retryAfterMs: (url) => waits.get(url),
    close: () => agent.destroy(),
  };
}

function readCas(file: string): string[] {
  try {
    return [...rootCertificates, readFileSync(file, "utf8")];
  } catch (error) {
    throw new AcmeError(
      `ACME_CA_FILE=${file} cannot be read: ${(error as Error).message}`,
      "Set ACME_CA_FILE to a PEM file that this user may read.",
      { cause: error },
    );
  }
}

async function exchange(
  { url, method, headers, body }: TransportRequest,
  agent: Dispatcher,
): Promise<TransportResponse> {
  const { host, protocol } = new URL(url);
  if (protocol !== "https:") {
    throw new AcmeError(`the ACME server names ${url}, which is not https`, "Check ACME_DIRECTORY_URL.");
  }
  try {
    const response = await request(url, {
      method: method.toUpperCase() as Dispatcher.HttpMethod,
      dispatcher: agent,
      headers: { ...headers, "user-agent": "swath" },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const fields = Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(", ")] as const);
    return { status: response.statusCode, headers: Object.fromEntries(fields), text: await readText(response.body) };
  } catch (error) {
    throw new AcmeConnectionError(
      `the ACME server ${host} cannot be reached: ${reasonOf(error as Error)}`,
      `Let this machine open connections to ${host}; ${isUntrusted(error) ? "set ACME_CA_FILE to its certificate authority" : "it is asked again later"}.`,
      { cause: error },
    );
  }
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) {
      throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function reasonOf(error: NodeJS.ErrnoException): string {
  const cause = error.cause instanceof Error ? error.cause : error;
  return cause.name === "TimeoutError"
    ? `no response in ${TIMEOUT_MS / 1000} s`
    : cause.message || (error.code ?? "no reason given");
}

function isUntrusted(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return /CERT|SELF_SIGNED|ISSUER|SIGNATURE/.test(code);
}

function parseProblem(text: string): Problem {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Problem) : {};
  } catch {
    // A page of a proxy, for example: the status says enough.
    return {};
  }
}

/** Seconds or a date (RFC 9110 §10.2.3), as milliseconds from now. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  const milliseconds = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}
