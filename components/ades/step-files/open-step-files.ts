import type { ClusterApi } from "@swath/kubernetes/api";

import { toCredentials } from "../bucket-keys/access-key.ts";
import { type AdesSettings, readOwnKeys } from "../execution/storage.ts";
import { type BlobStore, createBlobStore } from "./blob-store.ts";
import { type StepFiles, createStepFiles } from "./step-files.ts";

export const usesObjectStore = (settings: AdesSettings): boolean =>
  settings.EXECUTOR === "pods" && settings.POD_FILES === "object-store";

/** One of a process: its connections serve one job after another. */
const opened = new WeakMap<AdesSettings, BlobStore>();

/** Where files of steps are. */
export function openBlobStore(settings: AdesSettings): BlobStore {
  const known = opened.get(settings);
  if (known !== undefined) {
    return known;
  }
  const endpoint = settings.STEP_FILES_S3_ENDPOINT ?? settings.S3_ENDPOINT;
  if (endpoint === undefined) {
    throw new Error(
      "files of steps go through the object storage (POD_FILES), and neither STEP_FILES_S3_ENDPOINT nor S3_ENDPOINT names one",
    );
  }
  const { STEP_FILES_S3_ACCESS_KEY: accessKey, STEP_FILES_S3_SECRET_KEY: secretKey } = settings;
  const target = {
    endpoint,
    region: settings.STEP_FILES_S3_REGION ?? settings.S3_REGION,
    bucket: settings.STEP_FILES_BUCKET,
    credentials: secretKey === undefined ? readOwnKeys(settings) : toCredentials(accessKey, secretKey),
  };
  const store = createBlobStore(target, { connections: 32, stallSeconds: settings.STORAGE_SILENCE_SECONDS });
  opened.set(settings, store);
  return store;
}

export function openStepFiles(settings: AdesSettings, api: ClusterApi, job: string): StepFiles {
  if (settings.STEP_FILES_SECRET === undefined) {
    throw new Error("STEP_FILES_SECRET, the key of the tokens of jobs, is missing");
  }
  return createStepFiles({
    store: openBlobStore(settings),
    api,
    job,
    key: settings.STEP_FILES_SECRET,
    maxBytes: settings.MAX_DISK_MIB * 2 ** 20,
  });
}
