interface Template {
  readonly label: string;
  readonly make: (bucket: string) => object;
}

const toPolicy = (...statements: readonly object[]) => ({ Version: "2012-10-17", Statement: statements });
const objectsOf = (bucket: string) => `arn:aws:s3:::${bucket}/*`;
const itself = (bucket: string) => `arn:aws:s3:::${bucket}`;

/** What people want most often. */
export const TEMPLATES: readonly Template[] = [
  {
    label: "Everybody may read objects",
    make: (bucket) =>
      toPolicy({
        Sid: "PublicRead",
        Effect: "Allow",
        Principal: "*",
        Action: "s3:GetObject",
        Resource: objectsOf(bucket),
      }),
  },
  {
    label: "A user may read and list",
    make: (bucket) =>
      toPolicy({
        Sid: "Reader",
        Effect: "Allow",
        Principal: { AWS: "arn:aws:iam:::user/NAME" },
        Action: ["s3:GetObject", "s3:ListBucket"],
        Resource: [itself(bucket), objectsOf(bucket)],
      }),
  },
  {
    label: "A user may read and write",
    make: (bucket) =>
      toPolicy({
        Sid: "Writer",
        Effect: "Allow",
        Principal: { AWS: "arn:aws:iam:::user/NAME" },
        Action: ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket", "s3:AbortMultipartUpload"],
        Resource: [itself(bucket), objectsOf(bucket)],
      }),
  },
  {
    label: "Nobody may delete",
    make: (bucket) =>
      toPolicy({
        Sid: "KeepEverything",
        Effect: "Deny",
        Principal: "*",
        Action: ["s3:DeleteObject", "s3:DeleteObjectVersion"],
        Resource: objectsOf(bucket),
      }),
  },
];

/** Whether a policy lets in people who did not log in. */
export function isPublic(policy: object | null): boolean {
  const list = (policy as { Statement?: unknown } | null)?.Statement;
  const statements = Array.isArray(list) ? (list as unknown[]) : [list];
  return statements.some((statement) => {
    const { Effect: effect, Principal: principal } = (statement ?? {}) as { Effect?: unknown; Principal?: unknown };
    const names =
      typeof principal === "object" && principal !== null ? (principal as { AWS?: unknown }).AWS : principal;
    return effect === "Allow" && [names].flat().includes("*");
  });
}
