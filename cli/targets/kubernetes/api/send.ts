import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";

import type { KubeConfig } from "@kubernetes/client-node";

/** A refusal of the API server. `code` is the HTTP status, `body` the server's Status object or text. */
export class ApiResponseError extends Error {
  override readonly name = "ApiResponseError";
  readonly code: number;
  readonly body: unknown;

  constructor(code: number, body: unknown, method: string, path: string) {
    super(`the Kubernetes API responded ${code} to ${method} ${path}`);
    this.code = code;
    this.body = body;
  }
}

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Such as `/api/v1/namespaces/zoo/pods`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Sends one request with the credentials of a kubeconfig. Objects are sent and returned as plain JSON: the typed models of the client
 * library rename fields (`from` becomes `_from`) and drop what they do not know when they are written.
 * @throws {ApiResponseError} when the server refuses
 */
export async function sendToApi(config: KubeConfig, apiRequest: ApiRequest): Promise<unknown> {
  const { method, path, query = {}, body, contentType = "application/json" } = apiRequest;
  const url = new URL((config.getCurrentCluster()?.server ?? "").replace(/\/+$/, "") + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      url.searchParams.set(name, value);
    }
  }
  const options: RequestOptions = { method, timeout: REQUEST_TIMEOUT_MS };
  await config.applyToHTTPSOptions(options);
  const payload = body === undefined ? undefined : JSON.stringify(body);
  options.headers = {
    ...(options.headers as OutgoingHttpHeaders | undefined),
    accept: "application/json",
    ...(payload !== undefined && { "content-type": contentType, "content-length": Buffer.byteLength(payload) }),
  };
  const { statusCode, text } = await exchange(url, options, payload);
  const parsed = parseBody(text);
  if (statusCode < 200 || statusCode > 299) {
    throw new ApiResponseError(statusCode, parsed, method, path);
  }
  return parsed;
}

function exchange(
  url: URL,
  options: RequestOptions,
  payload: string | undefined,
): Promise<{ readonly statusCode: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const onResponse = (response: IncomingMessage): void => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ statusCode: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
    };
    const outgoing =
      url.protocol === "http:" ? requestHttp(url, options, onResponse) : requestHttps(url, options, onResponse);
    outgoing.on("timeout", () =>
      outgoing.destroy(new Error(`no response from ${url.host} within ${REQUEST_TIMEOUT_MS / 1000} seconds`)),
    );
    outgoing.on("error", reject);
    outgoing.end(payload);
  });
}

/** Proxies between us and the API server respond with other things than JSON. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text.slice(0, 300) };
  }
}
