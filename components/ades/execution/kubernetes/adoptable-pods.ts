import type { JobSpec } from "@swath/cwl";
import type { ClusterApi } from "@swath/kubernetes/api";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { type Pod, hasStarted, isSelfContained, podKeys } from "./pod-types.ts";
import { podsPath } from "./watch-pod.ts";

/** A pod that an attempt left, and where its directories are now; one with volumes of its own has none here. */
export interface AdoptablePod {
  readonly name: string;
  readonly outdir?: string;
}

/** The engine leaves entries of its working directory alone whose names begin so. */
const KEPT = "kept-";

/** Pods of one run whose service died, waiting to be asked for again. */
export class AdoptablePods {
  private readonly byDigest = new Map<string, AdoptablePod[]>();

  /**
   * Keeps the pods of a run that have begun and puts their directories out of the engine's way. A directory that a container
   * has mounted may be renamed: the mount holds the directory, not its name. Its number in the file system finds it again,
   * also after a second crash. Pods that have not begun are deleted: they would look for the directories by name.
   */
  async keep(api: ClusterApi, namespace: string, runId: string, workDir: string): Promise<void> {
    const { items } = (await api.get<{ items: readonly Pod[] }>(podsPath(namespace), {
      labelSelector: `${podKeys.run}=${runId}`,
    })) ?? { items: [] };
    for (const pod of items) {
      const { name, annotations = {}, deletionTimestamp } = pod.metadata;
      const digest = annotations[podKeys.invocation];
      if (isSelfContained(pod) && deletionTimestamp === undefined && digest !== undefined) {
        this.#add(digest, { name });
        continue;
      }
      const outdir = findByInode(workDir, annotations[podKeys.workInode]);
      if (deletionTimestamp !== undefined || !hasStarted(pod) || digest === undefined || outdir === undefined) {
        await api.remove(`${podsPath(namespace)}/${name}`, { gracePeriodSeconds: 0 });
        continue;
      }
      const kept = { name, outdir: join(workDir, `${KEPT}${name}`) };
      moveAside(join(workDir, `${outdir}.stage`), `${kept.outdir}.stage`);
      const scratch = findByInode(workDir, annotations[podKeys.scratchInode]);
      if (scratch !== undefined) {
        moveAside(join(workDir, scratch), `${kept.outdir}.scratch`);
      }
      moveAside(join(workDir, outdir), kept.outdir);
      this.#add(digest, kept);
    }
  }

  #add(digest: string, kept: AdoptablePod): void {
    this.byDigest.set(digest, [...(this.byDigest.get(digest) ?? []), kept]);
  }

  /** A pod that does what the digest says, once. */
  take(digest: string | undefined): AdoptablePod | undefined {
    return digest === undefined ? undefined : this.byDigest.get(digest)?.shift();
  }
}

/**
 * Puts the directories of a job that is let go of where the engine does not remove them. Only for a pod that has begun: one that
 * has not would look for them by name.
 */
export function moveAsidePod(job: JobSpec, pod: string): void {
  const outdir = join(dirname(job.outdir.host), `${KEPT}${pod}`);
  if (existsSync(outdir)) {
    // A pod that was joined: its directories were put aside before.
    return;
  }
  moveAside(`${job.outdir.host}.stage`, `${outdir}.stage`);
  moveAside(job.tmpdir.host, `${outdir}.scratch`);
  moveAside(job.outdir.host, outdir);
}

/** Gives a job the working directory of the pod that did its work. */
export function takeOver({ outdir }: AdoptablePod, job: JobSpec): void {
  if (outdir === undefined) {
    return;
  }
  rmSync(job.outdir.host, { recursive: true, force: true });
  renameSync(outdir, job.outdir.host);
  rmSync(`${outdir}.stage`, { recursive: true, force: true });
  rmSync(`${outdir}.scratch`, { recursive: true, force: true });
}

/** Where a directory's number stands in the annotations of its pod. */
export const inodeOf = (path: string): string => statSync(path, { bigint: true }).ino.toString();

function findByInode(folder: string, inode: string | undefined): string | undefined {
  return readdirSync(folder).find((name) => {
    const info = statSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
    return info?.isDirectory() === true && info.ino.toString() === inode;
  });
}

function moveAside(from: string, to: string): void {
  if (from !== to && existsSync(from)) {
    renameSync(from, to);
  }
}
