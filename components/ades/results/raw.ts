import { randomUUID } from "node:crypto";

import type { Output } from "./outputs.ts";

/** An answer without a document around the outputs. */
export interface RawResponse {
  readonly status: 200 | 204;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | undefined;
}

/**
 * Results as they are (OGC 18-062r2 §7.11.4, table 11): one value is the body, several are the parts of a `multipart/related`,
 * references alone are `Link` headers of an answer without content. A single file is none of these: `findOnlyFile`.
 */
export function toRaw(outputs: readonly Output[]): RawResponse {
  const [only] = outputs;
  if (outputs.every(({ byReference }) => byReference)) {
    return { status: 204, headers: { link: outputs.map(toLinkHeader) }, body: undefined };
  }
  if (outputs.length === 1 && only !== undefined) {
    return { status: 200, headers: { "content-type": only.mediaType }, body: toBytes(only) };
  }
  return toMultipart(outputs);
}

/** The one output, where it is a file by value: its bytes are the answer. */
export const findOnlyFile = ([only, ...more]: readonly Output[]): Output | undefined =>
  only !== undefined && more.length === 0 && !only.byReference && only.value === undefined ? only : undefined;

const toLinkHeader = ({ name, href, mediaType }: Output): string =>
  `<${href}>; rel="${name.replaceAll(/[^\w.-]/g, "_")}"; type="${mediaType}"`;

/** The bytes of a value in its own media type. */
export function toBytes({ value, encoding }: Output): Buffer {
  if (typeof value === "string") {
    return Buffer.from(value, encoding === "base64" ? "base64" : "utf8");
  }
  return Buffer.from(JSON.stringify(value ?? null));
}

/** RFC 2387; the part of a reference is empty and says where its content is (OGC 18-062r2 /req/core/process-execute-sync-raw-mixed-multi). */
function toMultipart(outputs: readonly Output[]): RawResponse {
  const boundary = randomUUID();
  const parts = outputs.flatMap((output) => {
    const { name, href, mediaType } = output;
    const byReference = output.byReference || output.value === undefined;
    const id = `Content-ID: <${name.replaceAll(/[^\w.-]/g, "_")}>`;
    const head = [
      `--${boundary}`,
      `Content-Type: ${mediaType}`,
      id,
      ...(byReference ? [`Content-Location: ${href}`] : []),
    ];
    return [
      Buffer.from(`${head.join("\r\n")}\r\n\r\n`),
      byReference ? Buffer.alloc(0) : toBytes(output),
      Buffer.from("\r\n"),
    ];
  });
  return {
    status: 200,
    headers: { "content-type": `multipart/related; boundary=${boundary}` },
    body: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
  };
}
