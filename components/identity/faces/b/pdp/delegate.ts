import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

import { type AddressGuard, createAddressGuard } from "@swath/service/address-guard";

/** Other decision points that policies may leave a decision to. */
export interface DelegateClient {
  /** Whether the decision point at `url` permits the request; a failure of it permits nothing. @throws {Error} why there is no answer */
  readonly ask: (url: string, body: object, hops: number) => Promise<boolean>;
}

/** Counts how many decision points have passed a request on, so that two that delegate to each other come to an end. */
export const HOPS_HEADER = "x-pdp-hops";
export const MAX_HOPS = 3;
const TIMEOUT_MS = 2000;
const MAX_BODY_BYTES = 65_536;

/**
 * Asks decision points elsewhere, in the form that this one is asked in.
 * @param allowPrivate hosts and networks that are not public and may be asked all the same
 */
export function createDelegateClient(allowPrivate: readonly string[]): DelegateClient {
  const guard = createAddressGuard({
    allowPrivate,
    refuse: (where, address) =>
      new Error(`${where} leads to ${address}, which is not public; DECISION_ALLOW_PRIVATE can allow it`),
  });
  return {
    ask: async (url, body, hops) => {
      guard.checkHost(new URL(url).hostname, url);
      const { status, text } = await post(new URL(url), JSON.stringify(body), hops, guard);
      if (status !== 200 && status !== 401) {
        throw new Error(`${url} answers ${status}`);
      }
      const { Response } = JSON.parse(text) as { Response?: readonly { readonly Decision?: unknown }[] };
      return status === 200 && Response?.length === 1 && Response[0]?.Decision === "Permit";
    },
  };
}

function post(
  url: URL,
  body: string,
  hops: number,
  guard: AddressGuard,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const request = send(
      url,
      {
        method: "POST",
        agent: false,
        lookup: guard.lookup as never,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          "content-length": Buffer.byteLength(body),
          [HOPS_HEADER]: String(hops),
        },
      },
      (response) => void readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject),
    );
    request.on("error", reject);
    request.end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      response.destroy();
      throw new Error(`the answer is longer than ${MAX_BODY_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
