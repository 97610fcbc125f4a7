import { RequestError } from "@swath/ui";

import { contentTypeOf } from "../s3/content-type.ts";
import { send, sendTo } from "../s3/send.ts";
import { sign, signAll } from "../s3/sign.ts";
import { escapeXml } from "../s3/escape-xml.ts";
import { parseXml, textOf } from "../s3/xml.ts";
import { PARTS_FROM, type Part, planParts } from "./plan-parts.ts";
import { put } from "./put.ts";

interface UploadOptions {
  readonly bucket: string;
  readonly key: string;
  readonly file: File;
  /** Bytes that were sent so far. */
  readonly onProgress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

const PARALLEL = 3;
const ATTEMPTS = 4;

/** Sends a file: small ones in one request, large ones in parts, several at once. @throws {RequestError} */
export async function uploadFile(options: UploadOptions): Promise<void> {
  const { bucket, key, file, onProgress, signal } = options;
  if (file.size > PARTS_FROM) {
    await uploadInParts(options);
    return;
  }
  const headers = { "content-type": contentTypeOf(file.name, file.type) };
  await loadWithRetry(signal, async () => {
    const url = await sign({ method: "PUT", bucket, key, seconds: 3600 });
    await put(url, file, { headers, onProgress, signal });
  });
}

async function uploadInParts({ bucket, key, file, onProgress, signal }: UploadOptions): Promise<void> {
  const started = await send(
    { method: "POST", bucket, key, query: { uploads: "" } },
    { headers: { "content-type": contentTypeOf(file.name, file.type) }, signal },
  );
  const uploadId = textOf(parseXml(await started.text()), "UploadId") ?? "";
  try {
    const etags = await uploadParts({ bucket, key, file, onProgress, signal, uploadId });
    const parts = etags.map(
      (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join("")}</CompleteMultipartUpload>`;
    const done = await send({ method: "POST", bucket, key, query: { uploadId } }, { body, signal });
    // S3 may find out after it began to answer, and then says so in the body.
    const response = parseXml(await done.text());
    if (response.localName === "Error") {
      throw new RequestError(500, { title: textOf(response, "Code"), detail: textOf(response, "Message") });
    }
  } catch (error) {
    // What was sent counts as used until it is called off.
    const url = await sign({ method: "DELETE", bucket, key, query: { uploadId } });
    await sendTo(url, { method: "DELETE" }).catch(() => undefined);
    throw error;
  }
}

async function uploadParts({
  bucket,
  key,
  file,
  onProgress,
  signal,
  uploadId,
}: UploadOptions & { readonly uploadId: string }): Promise<readonly string[]> {
  const parts = planParts(file.size);
  const etags: string[] = [];
  const sent = new Map<number, number>();
  const report = (part: Part, bytes: number) => {
    sent.set(part.number, bytes);
    onProgress([...sent.values()].reduce((sum, each) => sum + each, 0));
  };
  const left = parts.values();
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const work = async () => {
    for (const part of left) {
      etags[part.number - 1] = await loadWithRetry(both, async () => {
        const query = { partNumber: String(part.number), uploadId };
        const [url = ""] = await signAll([{ method: "PUT", bucket, key, query, seconds: 3600 }]);
        return put(url, file.slice(part.start, part.end), {
          onProgress: (bytes) => report(part, bytes),
          signal: both,
        });
      });
    }
  };
  try {
    await Promise.all(Array.from({ length: PARALLEL }, work));
  } finally {
    stop.abort();
  }
  return etags;
}

/** Tries again, later and later, what broke on the way or was refused for the moment. */
async function loadWithRetry<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const mayPass =
        error instanceof RequestError && (error.status === 0 || error.status >= 500 || error.status === 429);
      if (!mayPass || attempt >= ATTEMPTS) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** attempt));
    }
  }
}
