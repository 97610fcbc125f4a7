import { RequestError } from "@swath/ui";

import { type S3Request, sign } from "./sign.ts";
import { parseXml, textOf } from "./xml.ts";

interface SendOptions {
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Signs and sends a request. @throws {RequestError} with the message of S3 */
export async function send(requested: S3Request, options: SendOptions = {}): Promise<Response> {
  const url = await sign(requested);
  return sendTo(url, { method: requested.method, ...options, headers: { ...requested.headers, ...options.headers } });
}

/** Sends a request to an address that is signed already. @throws {RequestError} */
export async function sendTo(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") {
      throw error;
    }
    const detail = `The S3 service at ${new URL(url).origin} did not answer. Is its certificate trusted by this browser?`;
    throw new RequestError(0, { title: "No connection", detail }, { cause: error });
  }
  if (!response.ok) {
    throw toS3Error(response.status, await response.text());
  }
  return response;
}

/** An error of S3: its code as title, its message. */
export function toS3Error(status: number, body: string): RequestError {
  const document = body === "" ? undefined : parseXml(body);
  const title = (document && textOf(document, "Code")) ?? "The request failed";
  const detail = document && textOf(document, "Message");
  return new RequestError(status, { title, status, ...(detail !== undefined && { detail }) });
}
