import { decodePercent } from "@swath/service";
import type { Kysely } from "kysely";

import { findJob } from "../store/jobs.ts";
import { folderOf } from "../results/rewrite-links.ts";
import { isStoredFile, selectOutputs } from "../results/outputs.ts";
import type { JobResult, Tables } from "../store/tables.ts";
import { type AdesSettings, type UserStorage, findStorage } from "./storage.ts";

const RESULTS = "processing-results/";
/** Below the space of a user: the results of a job, whole or one of them. */
const RESULT_PATH = /^(?:ogc-api|wps3)\/jobs\/([^/]+)\/(files|results?)(?:\/(.+))?$/;

/**
 * The storage of a user as `findStorage` gives it, for reading inputs and packages: in the bucket that all users' results go to,
 * only results of the user's own jobs can be read. Everything else there is for all, scenes that an operator put there say.
 */
export async function findReadableStorage(
  db: Kysely<Tables>,
  settings: AdesSettings,
  user: string,
): Promise<UserStorage> {
  const { target, access } = await findStorage(settings, user);
  if (settings.STAGEOUT_TARGET === "workspace") {
    return { target, access };
  }
  const owned = new Map<string, Promise<boolean>>();
  const owns = (job: string): Promise<boolean> => {
    const known = owned.get(job) ?? findJob(db, user, job).then((found) => found !== undefined);
    owned.set(job, known);
    // Asked again when the database was away.
    known.catch(() => owned.delete(job));
    return known;
  };
  const mayRead = async (key: string): Promise<boolean> =>
    !key.startsWith(RESULTS) || owns(key.slice(RESULTS.length).split("/", 1)[0] ?? "");
  return {
    target,
    access: access.map((each) => (each.buckets?.includes(settings.STAGEOUT_BUCKET) ? { ...each, mayRead } : each)),
  };
}

/**
 * Where a result of the user's own jobs is stored, when an input names it by an address that this service gave out, on either of
 * its hosts: a job has no token to fetch it there. A value is its own content. Every other address is as it was.
 */
export async function toStoredAddress(
  db: Kysely<Tables>,
  settings: Pick<AdesSettings, "PUBLIC_URL" | "OPEN_HOST">,
  user: string,
  href: string,
): Promise<string> {
  const path = toSpacePath(settings, href);
  const [, id, kind, rest] = (path?.user === user && RESULT_PATH.exec(path.below)) || [];
  const job = id === undefined ? undefined : await findJob(db, user, id);
  if (job === undefined || job.result === null) {
    return href;
  }
  const result = job.result as unknown as JobResult;
  const folder = folderOf(result);
  const below = rest?.split("/").map(decodePercent).join("/");
  if (kind === "files") {
    return folder === undefined || below === undefined ? href : `${folder}${below}`;
  }
  if (below === undefined) {
    return toWhole(result, folder);
  }
  if (!Object.hasOwn(result.outputs, below)) {
    return href;
  }
  const [output] = selectOutputs({
    request: { inputs: {}, response: "raw", outputs: { [below]: {} } },
    // Addresses of the object storage stay as they are.
    result: { outputs: result.outputs },
    jobUrl: "",
  });
  const value = result.outputs[below];
  const [stored] = [value].flat(Number.POSITIVE_INFINITY);
  return isStoredFile(stored)
    ? stored.href
    : toDataAddress(output?.value ?? value, output?.mediaType, output?.encoding);
}

/** Whether an address names the result of a job, of any user's, by a host of this service. A job reads only what `toStoredAddress` finds. */
export function isResultAddress(settings: Pick<AdesSettings, "PUBLIC_URL" | "OPEN_HOST">, href: string): boolean {
  const path = toSpacePath(settings, href);
  return path !== undefined && RESULT_PATH.test(path.below);
}

/** All of a result: its catalogue, the folder of its files where there is no item in it, or its values. */
function toWhole(result: JobResult, folder: string | undefined): string {
  const { catalogUri, collection, outputs } = result;
  if (catalogUri === undefined || folder === undefined) {
    return toDataAddress(outputs);
  }
  const { links = [] } = (collection ?? {}) as { readonly links?: readonly { readonly rel: string }[] };
  return links.some(({ rel }) => rel === "item") ? catalogUri : folder;
}

/** Whose space an address of this service is in, and the path below it. */
function toSpacePath(
  { PUBLIC_URL, OPEN_HOST }: Pick<AdesSettings, "PUBLIC_URL" | "OPEN_HOST">,
  href: string,
): { readonly user: string; readonly below: string } | undefined {
  if (!URL.canParse(href)) {
    return undefined;
  }
  const { origin, protocol, hostname, pathname } = new URL(href);
  const isOurs =
    origin === new URL(PUBLIC_URL).origin ||
    (OPEN_HOST !== undefined && /^https?:$/.test(protocol) && hostname === OPEN_HOST.toLowerCase());
  const [, user, below] = (isOurs && /^\/([^/]+)\/(.+)$/.exec(pathname)) || [];
  return user === undefined || below === undefined ? undefined : { user: decodePercent(user), below };
}

function toDataAddress(value: unknown, mediaType = "application/json", encoding?: "base64"): string {
  const bytes =
    typeof value === "string"
      ? Buffer.from(value, encoding === "base64" ? "base64" : "utf8")
      : JSON.stringify(value ?? null);
  return `data:${mediaType.replaceAll(/\s/g, "")};base64,${Buffer.from(bytes).toString("base64")}`;
}
