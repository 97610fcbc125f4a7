import { isDeepStrictEqual } from "node:util";

import { type BucketState, type StorageAdmin, bucketPolicy } from "@swath/storage-admin";

import type { Step, StepContext } from "./step.ts";

/** A pair of storage keys as it is kept. */
export interface StorageKey {
  readonly access: string;
  readonly secret: string;
  readonly keyVersion: number;
}

/** What the step keeps. */
export interface BucketOutputs {
  readonly bucketname: string;
  /** The project of an infrastructure cloud that it belongs to. */
  readonly projectid?: string;
  readonly key?: StorageKey;
  readonly readerKey?: StorageKey;
  /** An existing object storage has the bucket; nobody but its administrators can make keys there. */
  readonly keyless?: true;
  readonly usage?: {
    readonly bytes: number;
    readonly objects: number;
    /** The quota in force: the workspace's own, or the deployment's. */
    readonly quota_in_mb: number;
    readonly at: string;
  };
}

interface BucketStepOptions {
  readonly objstore: StorageAdmin;
  /** Removes every object and version of a bucket. */
  readonly empty: (bucket: string) => Promise<void>;
  readonly defaultQuotaMb: number;
}

const KEY_TITLE = "workspace";
const MEBIBYTE = 1024 * 1024;

/** A bucket of the workspace's name, with a quota, keys that open only it, and others that only read it for readers. */
export function createBucketStep({ objstore, empty, defaultQuotaMb }: BucketStepOptions): Step {
  const readerOf = (bucket: string) => `${bucket}-reader`;

  const ensureBucket = async ({ workspace, wasDone }: StepContext): Promise<readonly string[]> => {
    const { name } = workspace;
    const repaired: string[] = [];
    let bucket = await objstore.findBucket(name);
    if (bucket === undefined) {
      await objstore.createBucket(name);
      bucket = await objstore.findBucket(name);
      if (wasDone) {
        repaired.push(`bucket ${name} was gone; it was made again, empty`);
      }
    }
    const quota = (workspace.quotaMb ?? defaultQuotaMb) * MEBIBYTE;
    if (bucket?.quotaBytes !== quota) {
      await objstore.setQuota(name, quota);
      // A quota that the workspace asks for anew differs too; that is no repair.
      if (wasDone && workspace.generation === workspace.observedGeneration) {
        repaired.push(`the quota of bucket ${name} had been changed`);
      }
    }
    if (bucket?.policy) {
      await objstore.removePolicy(name);
      if (wasDone) {
        repaired.push(`bucket ${name} had been given a policy of its own; it was removed`);
      }
    }
    return repaired;
  };

  /** Ensures a user of the storage with one key, which `save` has kept before an older one goes. */
  const ensureKey = async (
    user: string,
    policy: object,
    { known, version, save, wasDone, formerly = [] }: KeyRequest,
  ): Promise<{ key: StorageKey; mended: readonly string[] }> => {
    const repaired: string[] = [];
    const account = await objstore.findUser(user);
    if (account === undefined || !account.enabled || !isDeepStrictEqual(account.policy, policy)) {
      await objstore.putUser(user, policy);
      const isQuota = formerly.some((one) => isDeepStrictEqual(account?.policy, one));
      if (wasDone && known !== undefined && !isQuota) {
        repaired.push(`the rights of the storage user ${user} had been changed`);
      }
    }
    const isLeft = ({ accessKey, title }: { accessKey: string; title: string | null }) =>
      accessKey !== known?.access && title === KEY_TITLE;
    const found = await objstore.listKeys(user);
    for (const { accessKey } of found.filter(isLeft)) {
      // Keys of an attempt that ended before it could keep them. They go first: some storages give a user two keys.
      await objstore.deleteKey(user, accessKey);
    }
    const keys = found.filter((each) => !isLeft(each));
    const current = known && keys.find(({ accessKey, enabled }) => accessKey === known.access && enabled);
    let key = known;
    if (current === undefined || known?.keyVersion !== version || key === undefined) {
      const made = await objstore.createKey(user, KEY_TITLE);
      key = { access: made.accessKey, secret: made.secretKey, keyVersion: version };
      await save(key);
      if (wasDone && known !== undefined && known.keyVersion === version) {
        repaired.push(`the storage key of ${user} was gone; there is a new one`);
      }
    }
    for (const { accessKey, title } of keys) {
      // Keys of before a rotation.
      if (accessKey !== key.access && title === KEY_TITLE) {
        await objstore.deleteKey(user, accessKey);
      }
    }
    return { key, mended: repaired };
  };

  const removeUser = async (user: string) => {
    for (const { accessKey } of await objstore.listKeys(user)) {
      await objstore.deleteKey(user, accessKey);
    }
    await objstore.deleteUser(user);
  };

  return {
    name: "bucket",
    title: "Storage",
    apply: async (context) => {
      const { workspace, wasDone, save } = context;
      const { name, keyVersion: version } = workspace;
      const repaired = [...(await ensureBucket(context))];
      let outputs: BucketOutputs = { ...(context.outputs as BucketOutputs | null), bucketname: name };
      const keep = async (change: Partial<BucketOutputs>) => {
        outputs = { ...outputs, ...change };
        await save({ ...outputs });
      };
      const isFull = exceeds(await objstore.findBucket(name), workspace.quotaMb ?? defaultQuotaMb);
      const rights = [bucketPolicy(name, "write"), bucketPolicy(name, "delete")] as const;
      const writer = await ensureKey(name, rights[isFull && !objstore.enforcesQuota ? 1 : 0], {
        formerly: objstore.enforcesQuota ? [] : rights,
        known: outputs.key,
        version,
        wasDone,
        save: (key) => keep({ key }),
      });
      repaired.push(...writer.mended);
      if (workspace.members.some(({ role }) => role === "reader")) {
        const reader = await ensureKey(readerOf(name), bucketPolicy(name, "read"), {
          known: outputs.readerKey,
          version,
          wasDone,
          save: (readerKey) => keep({ readerKey }),
        });
        repaired.push(...reader.mended);
      } else if (outputs.readerKey !== undefined) {
        await removeUser(readerOf(name));
        const { readerKey: _, ...rest } = outputs;
        outputs = rest;
      }
      const bucket = await objstore.findBucket(name);
      await keep({
        usage: {
          bytes: bucket?.bytes ?? 0,
          objects: bucket?.objects ?? 0,
          quota_in_mb: workspace.quotaMb ?? defaultQuotaMb,
          at: new Date().toISOString(),
        },
      });
      return repaired;
    },
    remove: async ({ workspace }) => {
      const { name, data } = workspace;
      await removeUser(name);
      await removeUser(readerOf(name));
      if (data === "purge" && (await objstore.findBucket(name)) !== undefined) {
        await empty(name);
        await objstore.deleteBucket(name);
      }
    },
  };
}

interface KeyRequest {
  readonly known: StorageKey | undefined;
  readonly version: number;
  readonly wasDone: boolean;
  readonly save: (key: StorageKey) => Promise<void>;
  /** Rights that the platform itself gave before: a change from them is no repair. */
  readonly formerly?: readonly object[];
}

function exceeds(bucket: BucketState | undefined, quotaMb: number): boolean {
  return (bucket?.bytes ?? 0) > quotaMb * MEBIBYTE;
}
