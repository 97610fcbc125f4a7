import type { FastifyRequest } from "fastify";

import { invalidQuery } from "../errors.ts";
import type { JobCursor, JobFilter } from "../store/job-list.ts";
import { JOB_STATUSES, type JobStatus } from "../store/job-states.ts";

const MAX_PAGE = 10_000;
const MAX_SKIPPED = 1_000_000;

/** Values of a query parameter: given once with commas, or several times. */
function valuesOf(request: FastifyRequest, name: string): readonly string[] {
  const query = request.query as Record<string, string | readonly string[] | undefined>;
  // Some clients write lists as `status[]=…&status[]=…`.
  const value = query[name] ?? query[`${name}[]`] ?? [];
  return [value].flat().flatMap((text) => text.split(",").filter((part) => part !== ""));
}

/**
 * `limit`, and `skip` or `offset`. A limit above the largest is the largest (OGC 18-062r2 /req/core/pl-limit-definition).
 * @throws {OgcError} 400
 */
export function readPage(request: FastifyRequest, usual: number): { readonly limit: number; readonly skip: number } {
  const skip = readInteger(request, "skip", 0, MAX_SKIPPED) ?? readInteger(request, "offset", 0, MAX_SKIPPED) ?? 0;
  return { limit: Math.min(readInteger(request, "limit", 1, MAX_PAGE) ?? usual, MAX_PAGE), skip };
}

function readInteger(request: FastifyRequest, name: string, least: number, most: number): number | undefined {
  const [text] = valuesOf(request, name);
  if (text === undefined) {
    return undefined;
  }
  if (!/^\d{1,15}$/.test(text) || Number(text) < least) {
    throw invalidQuery(name, text, `a whole number from ${least} to ${most}`);
  }
  return Number(text);
}

/** Filters of the job list (OGC 18-062r2 §11.2). @throws {OgcError} 400 naming the filter and what is allowed */
export function readFilter(request: FastifyRequest): JobFilter {
  for (const type of valuesOf(request, "type")) {
    if (type !== "process") {
      throw invalidQuery("type", type, "process");
    }
  }
  const statuses = valuesOf(request, "status").map((status) => {
    if (!(JOB_STATUSES as readonly string[]).includes(status)) {
      throw invalidQuery("status", status, JOB_STATUSES.join(", "));
    }
    return status as JobStatus;
  });
  const minDuration = readInteger(request, "minDuration", 0, Number.MAX_SAFE_INTEGER);
  const maxDuration = readInteger(request, "maxDuration", 0, Number.MAX_SAFE_INTEGER);
  return {
    processIds: valuesOf(request, "processID"),
    statuses,
    ...readInterval(request),
    ...(minDuration !== undefined && { minDuration }),
    ...(maxDuration !== undefined && { maxDuration }),
  };
}

const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$/i;

/** `datetime`: an instant, or an interval with `/` that may be open with `..` (RFC 3339; OGC 18-062r2 /req/job-list/datetime-definition). */
function readInterval(request: FastifyRequest): { readonly from?: Date; readonly to?: Date } {
  const [text] = valuesOf(request, "datetime");
  if (text === undefined) {
    return {};
  }
  const parts = text.split("/");
  const refuse = (): never => {
    throw invalidQuery("datetime", text, "2026-11-21T00:00:00Z, or an interval with / and .. for an open end");
  };
  const [start = "", end = start] = parts;
  if (parts.length > 2 || (parts.length === 2 && [start, end].every((part) => part === "" || part === ".."))) {
    return refuse();
  }
  const read = (part: string): Date | undefined => {
    if (parts.length === 2 && (part === "" || part === "..")) {
      return undefined;
    }
    const date = new Date(part);
    return INSTANT.test(part) && !Number.isNaN(date.getTime()) ? date : refuse();
  };
  const [from, to] = [read(start), read(end)];
  if (from !== undefined && to !== undefined && from > to) {
    return refuse();
  }
  // A day is all of it.
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(end);
  return { ...(from && { from }), ...(to && { to: isDay ? new Date(to.getTime() + 86_399_999) : to }) };
}

/** Where a page of the job list begins, as an earlier page's link said. @throws {OgcError} 400 */
export function readCursor(request: FastifyRequest): JobCursor | undefined {
  const [text] = valuesOf(request, "cursor");
  if (text === undefined) {
    return undefined;
  }
  const match = /^(next|prev)-(\d{1,18})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(text);
  const [, direction, created, id] = match ?? [];
  if (direction === undefined || created === undefined || id === undefined) {
    throw invalidQuery("cursor", text, "what a link of an earlier page says");
  }
  return { direction: direction as JobCursor["direction"], created, id };
}

export const writeCursor = ({ direction, created, id }: JobCursor): string => `${direction}-${created}-${id}`;
