/** `delete`: of who has more than the quota allows; everything but adding. */
export type Access = "write" | "delete" | "read";

/** What the storage keys of a workspace may do: list, read, and unless they only read write and delete, in its bucket alone. */
export function bucketPolicy(bucket: string, access: Access): object {
  const onObjects = access === "read" ? READ : access === "delete" ? [...READ, ...DELETE] : [...READ, ...WRITE];
  return {
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Action: ["s3:ListBucket", "s3:ListBucketVersions", "s3:ListBucketMultipartUploads", "s3:GetBucketLocation"],
        Resource: `arn:aws:s3:::${bucket}`,
      },
      { Effect: "Allow", Action: onObjects, Resource: `arn:aws:s3:::${bucket}/*` },
    ],
  };
}

const READ = ["s3:GetObject*"];
const DELETE = ["s3:DeleteObject*", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"];
const WRITE = ["s3:PutObject*", "s3:DeleteObject*", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"];
