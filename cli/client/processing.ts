import { setTimeout as sleep } from "node:timers/promises";

import { CommandError } from "../commands/command.ts";
import type { Session } from "./session.ts";

/** A job as OGC API Processes describes it (18-062r2 §7.12), with the times that the service adds. */
export interface Job {
  readonly jobID: string;
  readonly processID: string;
  readonly status: "accepted" | "running" | "successful" | "failed" | "dismissed";
  readonly message?: string;
  readonly progress?: number;
  readonly created: string;
  readonly started?: string;
  readonly finished?: string;
}

/** A file that a job gave. */
export interface ResultFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly href: string;
  readonly type?: string;
  /** Bytes. */
  readonly size: number;
}

const POLL_MS = 500;

/** The user's own part of the processing service, without a slash at the end. */
export const processingOf = (session: Session): string =>
  `${session.address("ades")}/${encodeURIComponent(session.user)}/ogc-api`;

export const jobAddress = (session: Session, id: string): string =>
  `${processingOf(session)}/jobs/${encodeURIComponent(id)}`;

export async function readJob(session: Session, id: string): Promise<Job> {
  return (await (await session.request(jobAddress(session, id))).json()) as Job;
}

export async function listResultFiles(session: Session, id: string): Promise<readonly ResultFile[]> {
  const address = `${jobAddress(session, id)}/files`;
  const { files } = (await (await session.request(address)).json()) as { files: readonly ResultFile[] };
  return files.map((file) => ({ ...file, href: new URL(file.href, address).href }));
}

/** Follows a job to its end; `report` hears of every change. */
export async function followJob(session: Session, id: string, report: (job: Job) => void): Promise<Job> {
  for (let shown = ""; ; await sleep(POLL_MS)) {
    const job = await readJob(session, id);
    const line = `${job.status} ${job.progress} ${job.message}`;
    if (line !== shown) {
      shown = line;
      report(job);
    }
    if (job.status !== "accepted" && job.status !== "running") {
      return job;
    }
  }
}

/** An item of the catalogue as `swath search` shows it, COLLECTION/ITEM, by its address; what is an address already stays. */
export function toItemAddress(session: Session, text: string): string {
  const [, collection, item] = /^([^/:]+)\/([^/]+)$/.exec(text) ?? [];
  return collection === undefined || item === undefined
    ? text
    : `${session.address("resource-catalogue")}/stac/collections/${encodeURIComponent(collection)}/items/${encodeURIComponent(item)}`;
}

interface ProcessDescription {
  readonly inputs?: Readonly<
    Record<string, { readonly schema?: InputSchema; readonly maxOccurs?: number | "unbounded" }>
  >;
}

interface InputSchema {
  readonly type?: string;
  readonly format?: string;
  readonly contentMediaType?: string;
  readonly items?: InputSchema;
  readonly oneOf?: readonly InputSchema[];
}

/**
 * What was typed as `name=value`, as the inputs of an execution: addresses where the process wants files, numbers and truth values where
 * it wants these, everything given more than once as a list.
 * @throws {CommandError} for names that the process does not have
 */
export function toInputs(
  description: ProcessDescription,
  typed: readonly string[],
  toAddress: (text: string) => string,
): Record<string, unknown> {
  const known = description.inputs ?? {};
  const values = new Map<string, unknown[]>();
  for (const pair of typed) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(at, 0));
    const input = known[name];
    if (at < 1 || input === undefined) {
      const names = Object.keys(known).join(", ");
      throw new CommandError(
        at < 1
          ? `${JSON.stringify(pair)} is not an input; write name=value, with a name of: ${names}`
          : `the process has no input "${name}"; it has: ${names}`,
        2,
      );
    }
    values.set(name, [...(values.get(name) ?? []), toValue(input.schema ?? {}, pair.slice(at + 1), toAddress)]);
  }
  return Object.fromEntries(
    [...values].map(([name, list]) => [
      name,
      list.length > 1 || known[name]?.schema?.type === "array" ? list : list[0],
    ]),
  );
}

function toValue(schema: InputSchema, text: string, toAddress: (text: string) => string): unknown {
  const one = schema.type === "array" ? (schema.items ?? {}) : schema;
  const kinds = [one, ...(one.oneOf ?? [])];
  if (kinds.some(({ format, contentMediaType }) => format === "uri" || contentMediaType !== undefined)) {
    return { href: toAddress(text) };
  }
  if (kinds.some(({ type }) => type !== undefined && type !== "string")) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  }
  return text;
}
