import { setTimeout as sleep } from "node:timers/promises";

import type { ClusterApi } from "@swath/kubernetes/api";
import type { Logger } from "@swath/service";
import type { Kysely } from "kysely";

import { type Bucket, BucketTaken, deleteBucket, findBucket, listBuckets, putBucket } from "../store/buckets.ts";
import type { Tables } from "../store/tables.ts";
import { BUCKET_VERSION, bucketDefinition } from "./definition.ts";

interface BucketResource {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly generation?: number;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec: {
    readonly bucketName: string;
    readonly secretName?: string;
    readonly secretNamespace?: string;
    readonly deletionPolicy?: "Retain" | "Delete";
  };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly reason: string;
      readonly message: string;
      readonly observedGeneration?: number;
    }[];
  };
}

interface BucketList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly BucketResource[];
}

interface FollowOptions {
  readonly api: ClusterApi;
  readonly db: Kysely<Tables>;
  readonly logger: Logger;
  readonly group: string;
}

export interface Follower {
  /** Shows at the Bucket resource what has become of it. */
  readonly report: (name: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const RETRY_MS = 5000;

/**
 * Follows the Bucket resources of the cluster: what they ask for is written down, and what has become of it is shown in their status. A
 * finaliser keeps a resource until its keys, and its data where it asks for that, are gone.
 */
export function followBuckets({ api, db, logger, group }: FollowOptions): Follower {
  const stopping = new AbortController();
  const { signal } = stopping;
  const base = `/apis/${group}/${BUCKET_VERSION}`;
  const manager = "bucket-operator";
  const finalizer = `${group}/bucket`;
  const header = { apiVersion: `${group}/${BUCKET_VERSION}`, kind: "Bucket" };
  const pathOf = ({ name, namespace }: { name: string; namespace: string }) =>
    `${base}/namespaces/${namespace}/buckets/${name}`;

  const setFinalizers = ({ metadata: { name, namespace } }: BucketResource, finalizers: readonly string[]) =>
    api.apply(pathOf({ name, namespace }), { ...header, metadata: { name, namespace, finalizers } }, manager);

  const setStatus = async (
    { metadata: { name, namespace, generation = 0 }, status }: BucketResource,
    condition: { ready: boolean; reason: string; message: string; changedAt: Date },
  ) => {
    const shown = status?.conditions?.find(({ type }) => type === "Ready");
    if (
      shown?.reason === condition.reason &&
      shown.message === condition.message &&
      shown.observedGeneration === generation
    ) {
      // Written again it would come back as a change.
      return;
    }
    await api.apply(
      `${pathOf({ name, namespace })}/status`,
      {
        ...header,
        metadata: { name, namespace },
        status: {
          observedGeneration: generation,
          conditions: [
            {
              type: "Ready",
              status: condition.ready ? "True" : "False",
              observedGeneration: generation,
              lastTransitionTime: condition.changedAt.toISOString(),
              reason: condition.reason,
              message: condition.message,
            },
          ],
        },
      },
      manager,
    );
  };

  const showState = async (resource: BucketResource, bucket: Bucket) =>
    setStatus(resource, { ...bucket.condition, changedAt: bucket.changedAt });

  /** Brings what is written down to what the resource says. */
  const handle = async (resource: BucketResource) => {
    const { metadata, spec } = resource;
    const { name, namespace, finalizers = [] } = metadata;
    const bucket = await findBucket(db, name);
    const isOwn = bucket?.namespace === namespace;
    if (metadata.deletionTimestamp !== undefined) {
      if (isOwn && bucket.phase !== "kept") {
        await deleteBucket(db, name, namespace, spec.deletionPolicy === "Delete" ? "delete" : "retain");
      } else if (finalizers.includes(finalizer)) {
        await setFinalizers(resource, []);
      }
      return;
    }
    if (!finalizers.includes(finalizer)) {
      await setFinalizers(resource, [finalizer]);
    }
    const { secretNamespace = namespace } = spec;
    if (secretNamespace !== namespace && namespace !== api.namespace) {
      // Whoever may make Buckets in one namespace would write Secrets in another.
      await setStatus(resource, {
        ready: false,
        reason: "NamespaceRefused",
        message: `only Buckets in namespace ${api.namespace} may name another secretNamespace; leave it out, or make the Bucket in ${secretNamespace}`,
        changedAt: new Date(),
      });
      return;
    }
    try {
      const made = await putBucket(db, {
        name,
        bucketName: spec.bucketName,
        secretName: spec.secretName ?? null,
        secretNamespace: spec.secretNamespace ?? null,
        withKeys: true,
        removal: spec.deletionPolicy === "Delete" ? "delete" : "retain",
        namespace,
      });
      if (resource.status === undefined || made.observedGeneration === made.generation) {
        await showState(resource, made);
      }
    } catch (error) {
      if (!(error instanceof BucketTaken)) {
        throw error;
      }
      await setStatus(resource, { ready: false, reason: "NameTaken", message: error.message, changedAt: new Date() });
    }
  };

  const report = async (name: string) => {
    try {
      const bucket = await findBucket(db, name);
      // Gone from the table after a deletion: the list says where it was.
      const namespace = bucket?.namespace;
      const resource =
        namespace === undefined || namespace === null
          ? (await api.get<BucketList>(`${base}/buckets`, { fieldSelector: `metadata.name=${name}` }))?.items[0]
          : await api.get<BucketResource>(pathOf({ name, namespace }));
      if (resource === undefined) {
        return;
      }
      if (resource.metadata.deletionTimestamp !== undefined) {
        await handle(resource);
      } else if (bucket !== undefined) {
        await showState(resource, bucket);
      }
    } catch (error) {
      logger.warn({ bucket: name, err: error }, "cannot show the state of a bucket; it is shown at the next look");
    }
  };

  const follow = async () => {
    await api.apply(
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/buckets.${group}`,
      bucketDefinition(group),
      manager,
    );
    const list = await api.get<BucketList>(`${base}/buckets`);
    if (list === undefined) {
      throw new Error(`the cluster does not serve buckets.${group} yet`);
    }
    for (const resource of list.items) {
      await handle(resource);
    }
    const present = new Set(list.items.map(({ metadata }) => metadata.name));
    for (const { name, namespace, phase } of await listBuckets(db, { ofKubernetes: true })) {
      // Whoever took the finaliser away by force gave the bucket up; its data stay.
      if (!present.has(name) && phase === "active") {
        await deleteBucket(db, name, namespace, "retain");
      }
    }
    const query = { resourceVersion: list.metadata.resourceVersion };
    for await (const { type, object } of api.watch<BucketResource>(`${base}/buckets`, query, signal)) {
      if (type === "ADDED" || type === "MODIFIED") {
        await handle(object);
      }
    }
  };
  const running = (async () => {
    while (!signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (!signal.aborted) {
          logger.warn({ err: error }, "lost the Bucket resources; retrying");
          await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
        }
      }
    }
  })();
  return {
    report,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
