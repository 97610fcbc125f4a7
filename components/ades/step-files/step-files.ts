import type { JobSpec } from "@swath/cwl";
import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";
import { createReadStream } from "node:fs";
import { mkdir, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";

import { CwlError } from "@swath/cwl";
import { podKeys } from "../execution/kubernetes/pod-types.ts";
import type { Blob, BlobStore } from "./blob-store.ts";
import { type FileEntry, type FileTree, INPUTS, OUTPUTS, parseStepDocument, sizeOf } from "./documents.ts";
import { createJobToken } from "./job-token.ts";
import { DamagedBlobError, saveBlob } from "./save-blob.ts";
import { hashFile, readTree, writeTree } from "./trees.ts";

/** One directory or file of a step: where it is here, and in the volumes of its pod. */
export interface StepFolder {
  readonly root: string;
  readonly host: string;
  /** Whether what the tool makes of it is wanted back. */
  readonly isOutput: boolean;
}

/** The way of a job's files to the pods of its steps and back, through the object storage. */
export interface StepFiles {
  /** Stores what a step starts with, as far as the job's files do not have it yet. @returns bytes of all of it */
  readonly send: (pod: string, folders: readonly StepFolder[], signal: AbortSignal) => Promise<number>;
  /** Brings what a step left. @returns bytes of all of it */
  readonly receive: (job: JobSpec, pod: string, folders: readonly StepFolder[], signal: AbortSignal) => Promise<number>;
  /** The token that opens the job's files, in a Secret that pods mount. */
  readonly ensureSecret: () => Promise<void>;
  readonly secretName: string;
}

export interface StepFilesOptions {
  readonly store: BlobStore;
  readonly api: ClusterApi;
  readonly job: string;
  /** Key that tokens are signed with. */
  readonly key: string;
  /** Bytes that the outputs of one step may have. */
  readonly maxBytes: number;
}

/** Seconds that a token is good for, and after which a new one takes its place; a mounted Secret follows within minutes. */
const TOKEN_SECONDS = 3 * 86_400;
const RENEW_SECONDS = 86_400;
/** Pods mount it whether or not it is there yet. */
export const filesSecretOf = (job: string): string => `ades-files-${job}`;
export const TOKEN_KEY = "token";

export function createStepFiles({ store, api, job, key, maxBytes }: StepFilesOptions): StepFiles {
  const secretName = filesSecretOf(job);
  const blobs = new BlobIndex(store, job);
  let renewAt = 0;
  let renewing: Promise<void> | undefined;
  const putSecret = async (): Promise<void> => {
    const now = Math.floor(Date.now() / 1000);
    const path = `/api/v1/namespaces/${api.namespace}/secrets`;
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: secretName, labels: { "app.kubernetes.io/managed-by": "swath-ades", [podKeys.job]: job } },
      stringData: { [TOKEN_KEY]: createJobToken(key, job, now + TOKEN_SECONDS) },
    };
    await api.create(path, secret).catch(async (error: unknown) => {
      if (!(error instanceof ClusterApiError) || error.reason !== "AlreadyExists") {
        throw error;
      }
      // Of an earlier attempt, or one that ends in some days.
      await api.remove(`${path}/${secretName}`);
      await api.create(path, secret);
    });
    renewAt = now + RENEW_SECONDS;
  };
  return {
    secretName,
    ensureSecret: async () => {
      if (Date.now() / 1000 >= renewAt) {
        renewing ??= putSecret().finally(() => (renewing = undefined));
        await renewing;
      }
    },
    send: async (pod, folders, signal) => {
      // Also for a step without files.
      await blobs.open(signal);
      const trees: FileTree[] = [];
      for (const { root, host } of folders) {
        trees.push({ root, entries: await readTree(await realpath(host), signal, (path) => blobs.add(path, signal)) });
      }
      await store.writeDocument(job, `steps/${pod}/${INPUTS}`, JSON.stringify({ trees }), signal);
      return sizeOf({ trees });
    },
    receive: async (spec, pod, folders, signal) => {
      const text = await store.readDocument(job, `steps/${pod}/${OUTPUTS}`, signal);
      if (text === undefined) {
        throw new CwlError("infrastructure", `${spec.name}: its outputs are not in the object storage`);
      }
      const document = parseStepDocument(text);
      const bytes = sizeOf(document);
      if (bytes > maxBytes) {
        throw new CwlError(
          "process-failed",
          `${spec.name}: its outputs have ${Math.ceil(bytes / 2 ** 20)} MiB, more than the ${Math.floor(maxBytes / 2 ** 20)} MiB of disk that a job may have`,
        );
      }
      for (const { root, entries } of document.trees) {
        const host = folders.find((folder) => folder.root === root && folder.isOutput)?.host;
        if (host !== undefined) {
          await replaceTree(await realpath(host), entries, signal, (entry, path, both) =>
            blobs.fetch(entry, path, both),
          );
        }
      }
      return bytes;
    },
  };
}

/** Replaces a directory's content, or a file, by a tree. The directory stays the same one. */
async function replaceTree(
  host: string,
  entries: FileTree["entries"],
  signal: AbortSignal,
  fetchFile: (entry: FileEntry, path: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (entries[0]?.type === "directory") {
    await mkdir(host, { recursive: true });
    for (const name of await readdir(host)) {
      await rm(join(host, name), { recursive: true, force: true });
    }
    await writeTree(host, entries, signal, fetchFile);
    return;
  }
  const next = join(dirname(host), `.${randomUUID()}`);
  await writeTree(next, entries, signal, fetchFile);
  await rename(next, host);
}

/** Blobs that the job has in the object storage, and the files here that were found to be such. */
class BlobIndex {
  readonly #store: BlobStore;
  readonly #job: string;
  /** By what a file that was not changed keeps. */
  readonly #ofFiles = new Map<string, Blob>();
  readonly #sending = new Map<string, Promise<void>>();
  #present: Promise<Set<string>> | undefined;

  constructor(store: BlobStore, job: string) {
    this.#store = store;
    this.#job = job;
  }

  async add(path: string, signal: AbortSignal): Promise<Blob> {
    const stamp = await stampOf(path);
    const blob = this.#ofFiles.get(stamp) ?? (await hashFile(path));
    this.#ofFiles.set(stamp, blob);
    const present = await this.#list(signal);
    if (!present.has(blob.sha256)) {
      const sending = this.#sending.get(blob.sha256) ?? this.#send(path, blob, signal);
      this.#sending.set(blob.sha256, sending);
      await sending.finally(() => this.#sending.delete(blob.sha256));
      present.add(blob.sha256);
    }
    return blob;
  }

  async fetch({ sha256, size }: FileEntry, path: string, signal: AbortSignal): Promise<void> {
    const found = await this.#store.read(this.#job, sha256, signal);
    if (found === undefined) {
      throw new CwlError("infrastructure", `the object storage lost the blob ${sha256}`);
    }
    await saveBlob(found.body, path, { sha256, size }, signal).catch((error: unknown) => {
      throw error instanceof DamagedBlobError ? new CwlError("infrastructure", error.message, { cause: error }) : error;
    });
    this.#ofFiles.set(await stampOf(path), { sha256, size });
    (await this.#list(signal)).add(sha256);
  }

  /** Makes the bucket where it is missing. */
  async open(signal: AbortSignal): Promise<void> {
    await this.#list(signal);
  }

  async #send(path: string, blob: Blob, signal: AbortSignal): Promise<void> {
    const stream = createReadStream(path, { highWaterMark: 2 ** 20 });
    try {
      await this.#store.write(this.#job, blob, stream, signal);
    } finally {
      stream.destroy();
    }
  }

  #list(signal: AbortSignal): Promise<Set<string>> {
    this.#present ??= this.#store
      .open(signal)
      .then(async () => new Set(await this.#store.listBlobs(this.#job, signal)));
    this.#present.catch(() => (this.#present = undefined));
    return this.#present;
  }
}

async function stampOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs].join(":");
}
