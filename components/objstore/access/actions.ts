/** Actions of Amazon S3 that policies may name, as its service authorization reference lists them. */
const NAMES = `
AbortMultipartUpload BypassGovernanceRetention CreateAccessPoint CreateBucket CreateJob DeleteAccessPoint DeleteAccessPointPolicy
DeleteBucket DeleteBucketOwnershipControls DeleteBucketPolicy DeleteBucketWebsite DeleteJobTagging DeleteObject DeleteObjectTagging
DeleteObjectVersion DeleteObjectVersionTagging GetAccelerateConfiguration GetAccessPoint GetAccountPublicAccessBlock
GetAnalyticsConfiguration GetBucketAcl GetBucketCORS GetBucketLocation GetBucketLogging GetBucketNotification
GetBucketObjectLockConfiguration GetBucketOwnershipControls GetBucketPolicy GetBucketPolicyStatus GetBucketPublicAccessBlock
GetBucketRequestPayment GetBucketTagging GetBucketVersioning GetBucketWebsite GetEncryptionConfiguration
GetIntelligentTieringConfiguration GetInventoryConfiguration GetLifecycleConfiguration GetMetricsConfiguration GetObject GetObjectAcl
GetObjectAttributes GetObjectLegalHold GetObjectRetention GetObjectTagging GetObjectTorrent GetObjectVersion GetObjectVersionAcl
GetObjectVersionAttributes GetObjectVersionForReplication GetObjectVersionTagging GetObjectVersionTorrent GetReplicationConfiguration
InitiateReplication ListAccessPoints ListAllMyBuckets ListBucket ListBucketMultipartUploads ListBucketVersions ListJobs
ListMultipartUploadParts ObjectOwnerOverrideToBucketOwner PostBucketLogging PutAccelerateConfiguration PutAccessPointPolicy PutAccountPublicAccessBlock
PutAnalyticsConfiguration PutBucketAcl PutBucketCORS PutBucketLogging PutBucketNotification PutBucketObjectLockConfiguration
PutBucketOwnershipControls PutBucketPolicy PutBucketPublicAccessBlock PutBucketRequestPayment PutBucketTagging PutBucketVersioning
PutBucketWebsite PutEncryptionConfiguration PutIntelligentTieringConfiguration PutInventoryConfiguration PutLifecycleConfiguration
PutMetricsConfiguration PutObject PutObjectAcl PutObjectLegalHold PutObjectRetention PutObjectTagging PutObjectVersionAcl
PutObjectVersionTagging PutReplicationConfiguration ReplicateDelete ReplicateObject ReplicateTags RestoreObject TagResource
UntagResource ListTagsForResource`;

const ACTIONS = NAMES.trim()
  .split(/\s+/)
  .map((name) => `s3:${name.toLowerCase()}`);
const KNOWN = new Set(ACTIONS);

/** Actions of IAM and STS that policies of users may name. */
const OF_USERS =
  `AttachUserPolicy CreateAccessKey CreateUser DeleteAccessKey DeleteUser DeleteUserPolicy DetachUserPolicy
GetAccountSummary GetUser GetUserPolicy ListAccessKeys ListAttachedUserPolicies ListUserPolicies ListUsers PutUserPolicy
UpdateAccessKey UpdateUser`
    .split(/\s+/)
    .map((name) => `iam:${name.toLowerCase()}`)
    .concat("sts:getcalleridentity", "sts:getsessiontoken");

/** Whether a pattern of a policy names an action that there is: one that names none would never apply, and nobody would notice. */
export function isActionPattern(
  pattern: string,
  isLike: (text: string, pattern: string) => boolean,
  isOfUser: boolean,
): boolean {
  const lower = pattern.toLowerCase();
  const isNamed = (actions: readonly string[]) =>
    actions.includes(lower) || (/[*?]/.test(lower) && actions.some((action) => isLike(action, lower)));
  return lower === "*" || KNOWN.has(lower) || isNamed(ACTIONS) || (isOfUser && isNamed(OF_USERS));
}
