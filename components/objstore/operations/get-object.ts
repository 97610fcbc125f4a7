import { S3Error } from "../errors.ts";
import { toChecksumHeaders } from "../protocol/checksums.ts";
import { checkReadConditions } from "../protocol/conditions.ts";
import { type ByteRange, parseRange } from "../protocol/range.ts";
import { header, send } from "../protocol/request.ts";
import { openContent, sendContent } from "../protocol/send-content.ts";
import type { StoredContent } from "../store/contents.ts";
import type { Version } from "../store/rows.ts";
import { type Operation, type OperationContext, bucketOf, findVersion, setVersionHeader } from "./operation.ts";

const OVERRIDES = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "expires",
];

/** GetObject and HeadObject: the same answer, with and without its body. */
export const getObject: Operation = {
  name: "GetObject",
  action: "s3:GetObject",
  versionAction: "s3:GetObjectVersion",
  handle: async (context) => {
    const { store, request } = context;
    const { response } = request;
    for (let attempt = 0; ; attempt += 1) {
      const version = findVersion(context);
      setHeaders(context, version);
      if (checkReadConditions(request.message.headers, version)) {
        response.removeHeader("content-type");
        send(request, 304);
        return;
      }
      const content = version.content === null ? undefined : store.contents.read(version.content);
      if (content === undefined) {
        throw new Error(`version ${version.version} of a key has no content`);
      }
      const range = chooseRange(context, version, content);
      const { start, end } = range ?? { start: 0, end: version.size - 1 };
      response.setHeader("content-length", end - start + 1);
      if (range !== undefined) {
        response.setHeader("content-range", `bytes ${start}-${end}/${version.size}`);
      } else if (header(request, "x-amz-checksum-mode")?.toUpperCase() === "ENABLED") {
        response.setHeaders(new Map(Object.entries(toChecksumHeaders(version.checksum))));
      }
      const status = range === undefined ? 200 : 206;
      if (request.method === "HEAD") {
        response.writeHead(status).end();
        return;
      }
      try {
        const open = await openContent(store.files, content, { start, end });
        response.writeHead(status);
        await sendContent(response, store.files, open);
        return;
      } catch (error) {
        // Overwritten and collected between the look-up and the opening: look again.
        if (
          response.headersSent ||
          attempt > 4 ||
          !(error instanceof Error && "code" in error && error.code === "ENOENT")
        ) {
          throw error;
        }
      }
    }
  },
};

function setHeaders(context: OperationContext, version: Version): void {
  const { request, principal } = context;
  const { response, query } = request;
  for (const [name, value] of Object.entries(JSON.parse(version.headers) as Record<string, string>)) {
    response.setHeader(name, value);
  }
  for (const name of OVERRIDES) {
    const value = query.get(`response-${name}`);
    if (value !== undefined) {
      if (principal.kind === "anonymous") {
        throw new S3Error(
          "InvalidRequest",
          "Request specific response headers cannot be used for anonymous GET requests.",
        );
      }
      if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) {
        throw new S3Error("InvalidArgument", `response-${name} holds characters that a header cannot.`);
      }
      response.setHeader(name, value);
    }
  }
  response.setHeader("etag", `"${version.etag}"`);
  response.setHeader("last-modified", new Date(version.modified).toUTCString());
  response.setHeader("accept-ranges", "bytes");
  if (version.tags !== null && version.tags !== "{}") {
    response.setHeader("x-amz-tagging-count", Object.keys(JSON.parse(version.tags) as object).length);
  }
  setVersionHeader(context, bucketOf(context), version.version);
}

function chooseRange({ request }: OperationContext, version: Version, content: StoredContent): ByteRange | undefined {
  const part = request.query.get("partNumber");
  if (part === undefined) {
    return version.size === 0 && header(request, "range") === undefined
      ? undefined
      : parseRange(header(request, "range"), version.size);
  }
  if (!/^\d{1,5}$/.test(part) || Number(part) < 1) {
    throw new S3Error("InvalidArgument", "partNumber must be a whole number from 1 to 10000.");
  }
  if (version.parts !== null) {
    request.response.setHeader("x-amz-mp-parts-count", version.parts);
  }
  let start = 0;
  for (const { number, size } of "parts" in content ? content.parts : []) {
    if (number === Number(part)) {
      return { start, end: start + size - 1 };
    }
    start += size;
  }
  if (version.parts === null && Number(part) === 1) {
    return version.size === 0 ? undefined : { start: 0, end: version.size - 1 };
  }
  throw new S3Error("InvalidRange", "The requested partnumber is not satisfiable");
}
