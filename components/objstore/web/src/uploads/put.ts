import { RequestError } from "@swath/ui";

import { toS3Error } from "../s3/send.ts";

interface PutOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes of this body that are on their way so far. */
  readonly onProgress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Sends a body to a signed address and gives its ETag. `fetch` would not tell how much of it is sent.
 * @throws {RequestError} status 0 when the connection broke; `AbortError` when it was called off
 */
export function put(url: string, body: Blob, { headers = {}, onProgress, signal }: PutOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    const end = () => signal.removeEventListener("abort", stop);
    request.upload.addEventListener("progress", ({ loaded }) => onProgress(Math.min(loaded, body.size)));
    request.addEventListener("load", () => {
      end();
      if (request.status >= 200 && request.status < 300) {
        resolve(request.getResponseHeader("etag") ?? "");
      } else {
        reject(toS3Error(request.status, request.responseText));
      }
    });
    request.addEventListener("error", () => {
      end();
      reject(new RequestError(0, { title: "No connection", detail: "The connection broke while sending." }));
    });
    request.addEventListener("abort", () => {
      end();
      reject(new DOMException("called off", "AbortError"));
    });
    signal.throwIfAborted();
    signal.addEventListener("abort", stop);
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) {
      request.setRequestHeader(name, value);
    }
    request.send(body);
  });
}
