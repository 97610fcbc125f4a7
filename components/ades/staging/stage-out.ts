import { statSync } from "node:fs";
import { realpath } from "node:fs/promises";

import { MEDIA_TYPES, StacError } from "@swath/stac";

import { StagingError } from "./errors.ts";
import { runParallel } from "./in/parallel.ts";
import {
  type Addresses,
  type OutputFile,
  type OutputPlan,
  planOutput,
  toCatalog,
  toCollection,
  toItem,
} from "./out/plan-output.ts";
import { describeRasters } from "./out/raster-bands.ts";
import { readOutput } from "./out/read-output.ts";
import { type LocalFile, type Uploader, openUploader } from "./out/upload.ts";
import type { StageOutRequest, StagedFile, StagedOutput } from "./types.ts";

const PARALLEL = 4;
/** Of small files the store makes many durable in one go, when they come together. */
const SMALL_PARALLEL = 16;
const SMALL_BYTES = 2 ** 20;

/**
 * Sends a job's results to a bucket: first the files, then the items and the collection, `catalog.json` last, so that what has
 * one is whole. The same call again sends only what is missing and removes what an earlier attempt left besides.
 * @throws {StagingError} `output` for results that cannot be published, `target` for the object store; or the signal's reason
 */
export async function stageOut(request: StageOutRequest): Promise<StagedOutput> {
  const { directory, target, jobId } = request;
  request.signal.throwIfAborted();
  const prefix = checkPrefix(request.prefix);
  const plan = await planResults(await realpath(directory), prefix, jobId);
  const files = [...plan.items.flatMap(({ assets }) => assets), ...plan.collectionAssets]
    .flatMap(({ file }) => file ?? [])
    .map((file) => ({ ...file, size: statSync(file.path).size }));
  // The first failure ends what is still on its way.
  const failure = new AbortController();
  const signal = AbortSignal.any([request.signal, failure.signal]);
  const uploader = await openUploader(target, prefix, {
    parallel: PARALLEL,
    connections: SMALL_PARALLEL + 2 * PARALLEL,
    signal,
    onBytes: trackProgress(files, request),
  });
  try {
    // A retry may find the catalogue of an attempt that was not known to have ended: it is no longer true.
    if (uploader.present.has(plan.catalogKey)) {
      await uploader.remove(plan.catalogKey);
    }
    const sendFile: Uploader["sendFile"] = (...file) =>
      uploader.sendFile(...file).catch((error: unknown) => {
        failure.abort(error);
        throw error;
      });
    const lanes = [
      { files: files.filter(({ size }) => size <= SMALL_BYTES), parallel: SMALL_PARALLEL },
      { files: files.filter(({ size }) => size > SMALL_BYTES), parallel: PARALLEL },
    ];
    return await send(plan, lanes, { ...uploader, sendFile }, request);
  } finally {
    await uploader.close();
  }
}

/** Files, and how many of them go at the same time. */
interface Lane {
  readonly files: readonly (OutputFile & LocalFile)[];
  readonly parallel: number;
}

async function send(
  plan: OutputPlan,
  lanes: readonly Lane[],
  uploader: Uploader,
  request: StageOutRequest,
): Promise<StagedOutput> {
  const { target, jobId, signal, title = "Processing results" } = request;
  const of = (key: string) => `s3://${target.bucket}/${key}`;
  const at: Addresses = { catalog: of(plan.catalogKey), collection: of(plan.collectionKey), of };
  const sent = new Map<string, StagedFile>();
  const [bands] = await Promise.all([
    describeRasters(
      lanes.flatMap(({ files }) => files),
      signal,
    ),
    ...lanes.map(({ files, parallel }) =>
      runParallel(files, parallel, signal, async (file) => {
        const { path, key, mediaType } = file;
        sent.set(key, { path, ...(await uploader.sendFile(file, key, mediaType)) });
      }),
    ),
  ]);
  const published = { sent, bands, at, origin: request.origin };
  const collection = toCollection(plan, { jobId, title }, published);
  const sendDocument = async (key: string, value: object, mediaType: string) => {
    sent.set(key, await uploader.sendDocument(value, key, mediaType));
  };
  await Promise.all([
    sendDocument(plan.collectionKey, collection, MEDIA_TYPES.json),
    runParallel(plan.items, PARALLEL, signal, (item) =>
      sendDocument(item.key, toItem(item, jobId, published), MEDIA_TYPES.item),
    ),
  ]);
  const stale = uploader.present.keys().filter((key) => !sent.has(key) && key !== plan.catalogKey);
  await runParallel([...stale], PARALLEL, signal, (key) => uploader.remove(key));
  const catalog = toCatalog(jobId, collection.title ?? title, collection.stac_version, at);
  sent.set(plan.catalogKey, await uploader.sendDocument(catalog, plan.catalogKey, MEDIA_TYPES.json));
  return { catalogUri: at.catalog, collection, files: [...sent.values()] };
}

async function planResults(directory: string, prefix: string, jobId: string): Promise<OutputPlan> {
  try {
    return await planOutput(await readOutput(directory), directory, prefix, jobId);
  } catch (error) {
    throw error instanceof StacError ? new StagingError("output", error.where, error.problem, { cause: error }) : error;
  }
}

/** Bytes of files count; the metadata is small beside them. */
function trackProgress(files: readonly LocalFile[], { onProgress }: StageOutRequest): (bytes: number) => void {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let sent = 0;
  return (bytes) => {
    sent += bytes;
    onProgress?.(Math.min(sent, total), total);
  };
}

function checkPrefix(raw: string): string {
  const parts = raw.split("/").filter((part) => part !== "");
  if (parts.length === 0 || parts.some((part) => part === "." || part === "..")) {
    throw new StagingError("target", raw, "is not a prefix for results; write a path such as processing-results/<job>");
  }
  return parts.join("/");
}
