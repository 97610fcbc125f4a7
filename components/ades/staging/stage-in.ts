import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

import { type FoundItem, StacError, isStac, parseMultihash, walkItems } from "@swath/stac";
import mime from "mime-types";

import { displayUrl } from "./display-url.ts";
import { StagingError } from "./errors.ts";
import { type DownloadContext, download } from "./in/download.ts";
import { createPlacer, nameInUrl, safeName, uniqueName } from "./in/file-names.ts";
import { DEFAULT_LIMITS, createBudget } from "./in/limits.ts";
import { runParallel } from "./in/parallel.ts";
import { openDownloadState } from "./in/download-state.ts";
import { type Plan, type PlannedFile, planFiles, planItems } from "./in/plan-items.ts";
import { type JsonDocument, readDocument, tryReadDocument } from "./in/read-document.ts";
import { openSources } from "./in/sources.ts";
import { parseS3Url } from "./in/s3-source.ts";
import type { StageInRequest, StagedInput } from "./types.ts";

interface Context extends Omit<DownloadContext, "record"> {
  readonly request: StageInRequest;
  readonly target: string;
  /** No earlier attempt has begun in the target. */
  readonly isFirst: boolean;
}

const STATE = ".staging";
/** Node.js takes longer timers for none. */
const MAX_TIMER = 2 ** 31 - 1;

/**
 * Brings an input to this machine. A directory becomes a self-contained STAC catalogue (`catalog.json`, items, their files);
 * `catalog.json` is written last. What a broken attempt left in the target is continued, and nothing outside it is touched.
 * @throws {StagingError} naming the address, what was wrong with it and what to do; or the reason of the signal
 */
export async function stageIn(request: StageInRequest): Promise<StagedInput> {
  const limits = { ...DEFAULT_LIMITS, ...request.access.limits };
  const target = resolve(request.target);
  const deadline = new AbortController();
  const timer = setTimeout(
    () => {
      deadline.abort(
        new StagingError(
          "limit",
          displayUrl(request.source.href),
          `is not here after the ${limits.maxSeconds} seconds allowed`,
        ),
      );
    },
    Math.min(limits.maxSeconds * 1000, MAX_TIMER),
  );
  const signal = AbortSignal.any([request.signal, deadline.signal]);
  signal.throwIfAborted();
  const sources = openSources(request.access, limits);
  const parts = {
    request,
    target,
    limits,
    sources,
    signal,
    budget: createBudget(limits, request.onProgress),
  };
  try {
    const isFirst = (await mkdir(join(target, STATE), { recursive: true })) !== undefined;
    const context: Context = { ...parts, isFirst };
    const path = request.source.as === "file" ? await stageFile(context) : await stageDirectory(context);
    await rm(join(target, STATE), { recursive: true, force: true });
    return { path, kind: request.source.as, bytes: parts.budget.bytes() };
  } catch (error) {
    throw error instanceof StacError
      ? new StagingError("source", displayUrl(error.where), error.problem, { cause: error })
      : error;
  } finally {
    clearTimeout(timer);
    await sources.close();
  }
}

async function stageFile(context: Context): Promise<string> {
  const { source } = context.request;
  const file = planFile(context.request);
  const checksum = parseChecksum(source.checksum, source.href);
  await fetchFiles(
    [{ ...file, ...(source.size !== undefined && { size: source.size }), ...(checksum !== undefined && { checksum }) }],
    context,
  );
  return join(context.target, file.path);
}

async function stageDirectory(context: Context): Promise<string> {
  const { request, target, signal } = context;
  const plan = await planDirectory(context);
  await fetchFiles(plan.files, context);
  for (const { path, value } of plan.documents) {
    signal.throwIfAborted();
    await mkdir(dirname(join(target, path)), { recursive: true });
    await writeFile(join(target, path), `${JSON.stringify(value, null, 2)}\n`);
  }
  request.onProgress?.(context.budget.bytes(), context.budget.bytes());
  return target;
}

async function planDirectory(context: Context): Promise<Plan> {
  const { href, mediaType } = context.request.source;
  if (href.startsWith("s3://") && href.endsWith("/")) {
    return planPrefix(context);
  }
  const document = href.endsWith("/") ? await readFolder(context) : await tryReadDocument(href, { mediaType }, context);
  if (document !== undefined && isStac(document.value)) {
    const plan = await planStac(document, context);
    if (plan === undefined) {
      throw noItems(context);
    }
    return plan;
  }
  return planFiles([planFile(context.request)], href);
}

/** An address of a folder is a document of its own (the entry of a STAC API), or means the `catalog.json` in it. */
async function readFolder(context: Context): Promise<JsonDocument> {
  const { href, mediaType } = context.request.source;
  try {
    const document = await tryReadDocument(href, { mediaType }, context);
    if (document !== undefined) {
      return document;
    }
  } catch (error) {
    if (!(error instanceof StagingError) || error.code !== "source" || error.temporary) {
      throw error;
    }
  }
  const document = await readDocument(`${href}catalog.json`, context);
  if (!isStac(document.value)) {
    throw new StagingError("source", displayUrl(document.href), "is not a STAC catalogue");
  }
  return document;
}

const noItems = ({ request }: Context): StagingError =>
  new StagingError(
    "source",
    displayUrl(request.source.href),
    "leads to no item; widen the search or name another catalogue",
  );

/** The items that a document leads to, with their assets; `undefined` where there is none. */
async function planStac(start: JsonDocument, context: Context): Promise<Plan | undefined> {
  const { request, limits } = context;
  const items: FoundItem[] = [];
  for await (const found of walkItems(start, {
    read: (href, from) => readDocument(href, context, from),
    maxDocuments: limits.maxFiles,
    parallel: limits.parallel,
  })) {
    if (items.length >= limits.maxItems) {
      const where = displayUrl(request.source.href);
      throw new StagingError(
        "limit",
        where,
        `leads to more than the ${limits.maxItems} items allowed; narrow the search or name fewer`,
      );
    }
    items.push(found);
  }
  return items.length === 0
    ? undefined
    : planItems(items, {
        assets: request.assets,
        origin: request.source.href,
        toAssetAddress: context.sources.toAssetAddress,
      });
}

/** A folder of an object store: the items of its catalogue if it has one, else all its files. */
async function planPrefix(context: Context): Promise<Plan> {
  const { href } = context.request.source;
  const { bucket, key: prefix } = parseS3Url(href);
  const keys = await context.sources.list(href, context.signal);
  const catalog = ["catalog.json", "collection.json"].find((name) => keys.includes(`${prefix}${name}`));
  const plan =
    catalog === undefined ? undefined : await planStac(await readDocument(`${href}${catalog}`, context), context);
  if (plan !== undefined) {
    return plan;
  }
  // Results that are plain files have a catalogue without items.
  if (catalog !== undefined && keys.every((key) => /(?:^|\/)(?:catalog|collection)\.json$/.test(key))) {
    throw noItems(context);
  }
  if (keys.length === 0) {
    throw new StagingError(
      "source",
      href,
      "holds no object; a folder's address ends in the name that its objects begin with",
    );
  }
  const place = createPlacer();
  const files = keys.map((key): PlannedFile => ({
    href: `s3://${bucket}/${key}`,
    path: place(key.slice(prefix.length)),
  }));
  return planFiles(files, href);
}

function planFile({ source: { href, mediaType } }: StageInRequest): PlannedFile {
  const type = mediaType ?? /^data:([^;,]+)/i.exec(href)?.[1];
  const extension = type === undefined ? false : mime.extension(type);
  const fallback = extension === false ? "input" : `input.${extension}`;
  const name = safeName(href.startsWith("data:") ? "" : nameInUrl(href), fallback);
  return { href, path: uniqueName(name, new Set(["catalog.json"])) };
}

async function fetchFiles(files: readonly PlannedFile[], context: Context): Promise<void> {
  const { target, limits, isFirst } = context;
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) {
    await mkdir(join(target, folder), { recursive: true });
  }
  await runParallel(files, limits.parallel, context.signal, async ({ path, ...file }, signal) => {
    const record = openDownloadState(join(target, STATE), `${path}\n${file.href.replace(/\?.*$/s, "")}`, isFirst);
    await download({ ...file, path: join(target, path) }, { ...context, signal, record });
  });
}

/** CWL writes `sha1$<hex>`; STAC a multihash. */
function parseChecksum(text: string | undefined, href: string): PlannedFile["checksum"] {
  if (text === undefined) {
    return undefined;
  }
  const cwl = /^(sha1|sha256|sha512|md5)\$([0-9a-f]+)$/i.exec(text);
  const digest =
    cwl === null
      ? parseMultihash(text)
      : { algorithm: cwl[1]?.toLowerCase() as "sha1", hex: (cwl[2] ?? "").toLowerCase() };
  if (digest === undefined) {
    throw new StagingError(
      "source",
      displayUrl(href),
      `has the checksum "${text}"; write sha1$<hex> or a multihash in hexadecimal`,
    );
  }
  return digest;
}
