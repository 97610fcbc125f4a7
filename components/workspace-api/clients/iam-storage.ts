import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  DeleteUserCommand,
  DeleteUserPolicyCommand,
  GetUserPolicyCommand,
  IAMClient,
  ListAccessKeysCommand,
  PutUserPolicyCommand,
} from "@aws-sdk/client-iam";
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketPolicyCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  HeadBucketCommand,
  ListObjectVersionsCommand,
  PutBucketTaggingCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { Problem } from "@swath/service";

import type { WithStorage } from "../steps/plain-bucket.ts";
import type { StorageAdmin } from "@swath/storage-admin";

interface IamStorageOptions {
  /** IAM API of the storage. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly region: string;
  readonly withStorage: WithStorage;
  /** How long a count of a bucket's use is believed. */
  readonly usageMs: number;
}

interface Usage {
  readonly at: number;
  readonly objects: number;
  readonly bytes: number;
}

const POLICY_NAME = "workspace";
const KEY_TITLE = "workspace";
const USER_PATH = "/workspaces/";
/** Bucket tag that says the quota: S3 has no place of its own for it. */
const QUOTA_TAG = "swath-quota-bytes";
/** Pages of a thousand versions that are counted; of larger buckets the use is at least what was counted. */
const MAX_USAGE_PAGES = 1000;

/**
 * Users, keys and quotas in an existing S3 cluster, by what AWS, Ceph and others share: S3 and the IAM API. Nothing there refuses what
 * goes beyond a quota, so the use is counted at intervals.
 */
export function createIamStorage(options: IamStorageOptions): StorageAdmin & { readonly close: () => void } {
  const { withStorage, region, usageMs } = options;
  const iam = new IAMClient({
    endpoint: options.url,
    region,
    credentials: { accessKeyId: options.user, secretAccessKey: options.password },
  });
  const usages = new Map<string, Usage>();
  const findUsage = async (client: S3Client, bucket: string): Promise<Usage> => {
    const known = usages.get(bucket);
    if (known !== undefined && Date.now() - known.at < usageMs) {
      return known;
    }
    const usage = await countUsage(client, bucket);
    usages.set(bucket, usage);
    return usage;
  };
  return {
    enforcesQuota: false,
    findBucket: (name) =>
      withStorage(async (client) => {
        if (!(await exists(client, name))) {
          return undefined;
        }
        const { objects, bytes } = await findUsage(client, name);
        const quota = (await readTags(client, name)).get(QUOTA_TAG);
        const policy = await orAbsent(client.send(new GetBucketPolicyCommand({ Bucket: name })), "NoSuchBucketPolicy");
        return {
          objects,
          bytes,
          quotaBytes: quota === undefined ? null : Number(quota),
          policy: policy?.Policy === undefined ? null : (JSON.parse(policy.Policy) as object),
        };
      }),
    createBucket: (name) =>
      withStorage(async (client) => {
        const configuration =
          region === "us-east-1" ? {} : { CreateBucketConfiguration: { LocationConstraint: region as "eu-west-1" } };
        await orAbsent(
          client.send(new CreateBucketCommand({ Bucket: name, ...configuration })),
          "BucketAlreadyOwnedByYou",
        );
      }),
    setQuota: (name, bytes) =>
      withStorage(async (client) => {
        const tags = await readTags(client, name);
        tags.delete(QUOTA_TAG);
        if (bytes !== null) {
          tags.set(QUOTA_TAG, String(bytes));
        }
        const TagSet = [...tags].map(([Key, Value]) => ({ Key, Value }));
        await client.send(new PutBucketTaggingCommand({ Bucket: name, Tagging: { TagSet } }));
      }),
    removePolicy: (name) =>
      withStorage(async (client) => void (await client.send(new DeleteBucketPolicyCommand({ Bucket: name })))),
    deleteBucket: (name) =>
      withStorage(async (client) => {
        usages.delete(name);
        await orAbsent(client.send(new DeleteBucketCommand({ Bucket: name })), "NoSuchBucket");
      }),
    findUser: async (UserName) => {
      const found = await orAbsent(
        iam.send(new GetUserPolicyCommand({ UserName, PolicyName: POLICY_NAME })),
        "NoSuchEntityException",
      );
      return found?.PolicyDocument === undefined
        ? undefined
        : { policy: JSON.parse(decodeURIComponent(found.PolicyDocument)) as object, enabled: true };
    },
    putUser: async (UserName, policy) => {
      await orAbsent(iam.send(new CreateUserCommand({ UserName, Path: USER_PATH })), "EntityAlreadyExistsException");
      await iam.send(
        new PutUserPolicyCommand({ UserName, PolicyName: POLICY_NAME, PolicyDocument: JSON.stringify(policy) }),
      );
    },
    deleteUser: async (UserName) => {
      await orAbsent(
        iam.send(new DeleteUserPolicyCommand({ UserName, PolicyName: POLICY_NAME })),
        "NoSuchEntityException",
      );
      await orAbsent(iam.send(new DeleteUserCommand({ UserName })), "NoSuchEntityException");
    },
    listKeys: async (UserName) => {
      const found = await orAbsent(iam.send(new ListAccessKeysCommand({ UserName })), "NoSuchEntityException");
      return (found?.AccessKeyMetadata ?? []).map(({ AccessKeyId, Status }) => ({
        accessKey: AccessKeyId ?? "",
        user: UserName,
        // Nobody else makes keys of these users.
        title: KEY_TITLE,
        enabled: Status === "Active",
      }));
    },
    createKey: async (UserName) => {
      const { AccessKey: key } = await iam.send(new CreateAccessKeyCommand({ UserName }));
      if (key?.AccessKeyId === undefined || key.SecretAccessKey === undefined) {
        throw new Problem(502, `the IAM API gives no key for ${UserName}`);
      }
      return { accessKey: key.AccessKeyId, secretKey: key.SecretAccessKey };
    },
    deleteKey: async (UserName, AccessKeyId) =>
      void (await orAbsent(iam.send(new DeleteAccessKeyCommand({ UserName, AccessKeyId })), "NoSuchEntityException")),
    close: () => iam.destroy(),
  };
}

/** Undefined when the storage answers that it is as it should be: gone, or there already. */
async function orAbsent<T>(work: Promise<T>, code: string): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && (error.name === code || `${error.name}Exception` === code)) {
      return undefined;
    }
    throw error;
  }
}

async function exists(client: S3Client, bucket: string): Promise<boolean> {
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }));
    return true;
  } catch (error) {
    if ((error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404) {
      return false;
    }
    throw error;
  }
}

async function readTags(client: S3Client, bucket: string): Promise<Map<string, string>> {
  const found = await orAbsent(client.send(new GetBucketTaggingCommand({ Bucket: bucket })), "NoSuchTagSet");
  return new Map((found?.TagSet ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));
}

/** Keys and bytes of all versions. */
async function countUsage(client: S3Client, bucket: string): Promise<Usage> {
  let objects = 0;
  let bytes = 0;
  let KeyMarker: string | undefined;
  let VersionIdMarker: string | undefined;
  for (let page = 0; page < MAX_USAGE_PAGES; page += 1) {
    const found = await client.send(new ListObjectVersionsCommand({ Bucket: bucket, KeyMarker, VersionIdMarker }));
    for (const { IsLatest, Size } of found.Versions ?? []) {
      objects += Number(IsLatest === true);
      bytes += Size ?? 0;
    }
    if (found.IsTruncated !== true) {
      break;
    }
    ({ NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = found);
  }
  return { at: Date.now(), objects, bytes };
}
