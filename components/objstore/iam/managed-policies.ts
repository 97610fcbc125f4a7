/** Policies that AWS manages and that mean something here; others cannot be attached. */
const MANAGED: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<readonly string[]>({
    AdministratorAccess: ["s3:*", "iam:*"],
    AmazonS3FullAccess: ["s3:*"],
    AmazonS3ReadOnlyAccess: ["s3:Get*", "s3:List*"],
    IAMFullAccess: ["iam:*"],
    IAMReadOnlyAccess: ["iam:Get*", "iam:List*"],
  }),
);

/** The document of a managed policy, JSON; undefined when there is none of that ARN. */
export function findManagedPolicy(arn: string): string | undefined {
  const actions = MANAGED.get(nameOfPolicy(arn));
  return actions !== undefined && arn === `arn:aws:iam::aws:policy/${nameOfPolicy(arn)}`
    ? JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: actions, Resource: "*" }] })
    : undefined;
}

export function nameOfPolicy(arn: string): string {
  return arn.slice(arn.lastIndexOf("/") + 1);
}
