import type { IncomingHttpHeaders } from "node:http";

import { S3Error } from "../errors.ts";
import type { Version } from "../store/rows.ts";

type Tagged = Pick<Version, "etag" | "modified">;

/** Conditions of GET and HEAD (RFC 9110 §13). True: answer 304. @throws {S3Error} PreconditionFailed */
export function checkReadConditions(headers: IncomingHttpHeaders, version: Tagged): boolean {
  const match = headers["if-match"];
  const noneMatch = headers["if-none-match"];
  if (match !== undefined ? !matches(match, version.etag) : isModifiedAfter(version, headers["if-unmodified-since"])) {
    throw new S3Error("PreconditionFailed");
  }
  if (noneMatch !== undefined) {
    return matches(noneMatch, version.etag);
  }
  const since = headers["if-modified-since"];
  return since !== undefined && !Number.isNaN(Date.parse(since)) && !isModifiedAfter(version, since);
}

/** Conditions of PUT and CompleteMultipartUpload, judged in the transaction that writes. */
export function toWriteCheck(headers: IncomingHttpHeaders): (current: Version | undefined) => void {
  const match = headers["if-match"];
  const noneMatch = headers["if-none-match"];
  return (current) => {
    const exists = current !== undefined && current.marker === 0;
    if (noneMatch !== undefined && exists && matches(noneMatch, current.etag)) {
      throw new S3Error("PreconditionFailed", undefined, { details: { Condition: "If-None-Match" } });
    }
    if (match !== undefined && !exists) {
      throw new S3Error("NoSuchKey");
    }
    if (match !== undefined && !matches(match, current?.etag ?? "")) {
      throw new S3Error("PreconditionFailed", undefined, { details: { Condition: "If-Match" } });
    }
  };
}

/**
 * Conditions of a delete: `If-Match`, and of general-purpose and directory buckets the size and the time of the last change. What is
 * not there fits no ETag but is deleted already.
 */
export function toDeleteCheck(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): (current: Version | undefined) => void {
  const match = headers["if-match"];
  const size = headers["x-amz-if-match-size"];
  const time = headers["x-amz-if-match-last-modified-time"];
  if (match === undefined && size === undefined && time === undefined) {
    return () => {};
  }
  const requested = typeof time === "string" ? Date.parse(time) : undefined;
  return (current) => {
    if (current === undefined) {
      return;
    }
    const isOther =
      (typeof match === "string" && !matches(match, current.etag)) ||
      (typeof size === "string" && Number(size) !== current.size) ||
      (requested !== undefined && Math.floor(requested / 1000) !== Math.floor(current.modified / 1000));
    if (isOther) {
      throw new S3Error("PreconditionFailed", undefined, { details: { Condition: "If-Match" } });
    }
  };
}

/** Conditions on the source of a copy. */
export function checkCopyConditions(headers: IncomingHttpHeaders, version: Tagged): void {
  const read = (name: string) => {
    const value = headers[`x-amz-copy-source-${name}`];
    return typeof value === "string" ? { [name]: value } : {};
  };
  const conditions = {
    ...read("if-match"),
    ...read("if-none-match"),
    ...read("if-modified-since"),
    ...read("if-unmodified-since"),
  };
  if (checkReadConditions(conditions, version)) {
    throw new S3Error("PreconditionFailed");
  }
}

function matches(list: string, etag: string): boolean {
  return list.split(",").some((item) => {
    const tag = item.trim().replace(/^W\//, "").replaceAll('"', "");
    return tag === "*" || tag === etag;
  });
}

function isModifiedAfter({ modified }: Tagged, date: string | undefined): boolean {
  const limit = Date.parse(date ?? "");
  return !Number.isNaN(limit) && Math.floor(modified / 1000) * 1000 > limit;
}
