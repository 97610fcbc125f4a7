import * as s3 from "@aws-sdk/client-s3";

/** Names of the buckets that the client's key owns. */
export async function listBuckets(client: s3.S3Client): Promise<readonly string[]> {
  const names: string[] = [];
  for (let ContinuationToken: string | undefined; ;) {
    const page = await client.send(new s3.ListBucketsCommand({ ContinuationToken }));
    names.push(...(page.Buckets ?? []).flatMap(({ Name }) => Name ?? []));
    ContinuationToken = page.ContinuationToken;
    if (ContinuationToken === undefined) {
      return names;
    }
  }
}

interface Ends {
  readonly source: s3.S3Client;
  readonly target: s3.S3Client;
}

/** Makes the bucket where it is missing, with Object Lock and versions as the source has them. */
export async function makeBucket(Bucket: string, region: string, { source, target }: Ends): Promise<void> {
  const lock = await orNothing(source.send(new s3.GetObjectLockConfigurationCommand({ Bucket })));
  const ownership = await orNothing(source.send(new s3.GetBucketOwnershipControlsCommand({ Bucket })));
  const { Status } = await source.send(new s3.GetBucketVersioningCommand({ Bucket }));
  const location =
    region === "us-east-1" ? {} : { CreateBucketConfiguration: { LocationConstraint: region as "eu-west-1" } };
  try {
    await target.send(
      new s3.CreateBucketCommand({
        Bucket,
        ...location,
        ...(lock?.ObjectLockConfiguration && { ObjectLockEnabledForBucket: true }),
        ObjectOwnership: ownership?.OwnershipControls?.Rules?.[0]?.ObjectOwnership,
      }),
    );
  } catch (error) {
    // Some services say the second of their own buckets, too.
    const isOwn =
      error instanceof Error &&
      (error.name === "BucketAlreadyOwnedByYou" ||
        (error.name === "BucketAlreadyExists" && (await listBuckets(target)).includes(Bucket)));
    if (!isOwn) {
      throw error;
    }
  }
  if (Status !== undefined && lock === undefined) {
    await target.send(new s3.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
  }
}

type Copy = (Bucket: string, ends: Ends) => Promise<unknown>;

/** Settings in the order in which they are copied; those that restrict or delete come last, once the objects are there. */
const SETTINGS: Readonly<Record<string, Copy>> = {
  tags: async (Bucket, { source, target }) => {
    const found = await orNothing(source.send(new s3.GetBucketTaggingCommand({ Bucket })));
    return found && target.send(new s3.PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: found.TagSet } }));
  },
  CORS: async (Bucket, { source, target }) => {
    const found = await orNothing(source.send(new s3.GetBucketCorsCommand({ Bucket })));
    return (
      found && target.send(new s3.PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: found.CORSRules } }))
    );
  },
  encryption: async (Bucket, { source, target }) => {
    const found = await orNothing(source.send(new s3.GetBucketEncryptionCommand({ Bucket })));
    const { ServerSideEncryptionConfiguration } = found ?? {};
    return (
      ServerSideEncryptionConfiguration &&
      target.send(new s3.PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration }))
    );
  },
  "object lock": async (Bucket, { source, target }) => {
    const found = await orNothing(source.send(new s3.GetObjectLockConfigurationCommand({ Bucket })));
    const { ObjectLockConfiguration } = found ?? {};
    return (
      ObjectLockConfiguration?.Rule &&
      target.send(new s3.PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }))
    );
  },
  versioning: async (Bucket, { source, target }) => {
    const { Status } = await source.send(new s3.GetBucketVersioningCommand({ Bucket }));
    return (
      Status === "Suspended" &&
      target.send(new s3.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }))
    );
  },
  lifecycle: async (Bucket, { source, target }) => {
    const found = await orNothing(source.send(new s3.GetBucketLifecycleConfigurationCommand({ Bucket })));
    const LifecycleConfiguration = { Rules: found?.Rules };
    return found && target.send(new s3.PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }));
  },
  "public access block": async (Bucket, { source, target }) => {
    const found = await orNothing(source.send(new s3.GetPublicAccessBlockCommand({ Bucket })));
    const { PublicAccessBlockConfiguration } = found ?? {};
    return (
      PublicAccessBlockConfiguration &&
      target.send(new s3.PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }))
    );
  },
  policy: async (Bucket, { source, target }) => {
    const found = await orNothing(source.send(new s3.GetBucketPolicyCommand({ Bucket })));
    return found && target.send(new s3.PutBucketPolicyCommand({ Bucket, Policy: found.Policy }));
  },
};

/** Copies what buckets are told besides their objects; gives what the target refused. */
export async function copySettings(bucket: string, ends: Ends): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [name, copy] of Object.entries(SETTINGS)) {
    try {
      await copy(bucket, ends);
    } catch (error) {
      problems.push(`${name} of the bucket: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return problems;
}

const ABSENT = 404;

/** Whether a service says that it has no such operation. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof Error && ["NotImplemented", "MethodNotAllowed"].includes(error.name);
}

/** Undefined when there is no such setting, or the service knows none of its kind. */
async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
    if (status === ABSENT || isUnsupported(error) || (error instanceof Error && error.name.startsWith("NoSuch"))) {
      return undefined;
    }
    throw error;
  }
}
