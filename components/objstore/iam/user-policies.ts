import { parsePolicy } from "../access/policy.ts";
import { S3Error } from "../errors.ts";
import type { User } from "../store/accounts.ts";
import { type IamAction, type IamContext, findTarget, need, paginate } from "./iam-context.ts";
import { IamError } from "./iam-error.ts";
import { findManagedPolicy, nameOfPolicy } from "./managed-policies.ts";

const MAX_POLICY_CHARACTERS = 20_480;
const MAX_ATTACHED = 20;

export const putUserPolicy: IamAction = async (context, action) => {
  const user = findStored(context, action);
  const name = need(context, "PolicyName");
  const document = context.read("PolicyDocument") ?? "";
  checkDocument(document);
  const policies = { ...readPolicies(user), [name]: document };
  if (Object.values(policies).join("").length > MAX_POLICY_CHARACTERS) {
    throw new IamError(
      "LimitExceeded",
      `The policies of a user may have ${MAX_POLICY_CHARACTERS} characters together.`,
    );
  }
  await context.accounts.changeUser(user.name, { policies: JSON.stringify(policies) });
  return undefined;
};

export const getUserPolicy: IamAction = (context, action) => {
  const user = findStored(context, action);
  const { name, document } = findPolicy(context, user);
  return { UserName: user.name, PolicyName: name, PolicyDocument: encodeURIComponent(document) };
};

export const listUserPolicies: IamAction = (context, action) => {
  const names = Object.keys(readPolicies(findStored(context, action))).toSorted();
  const { items, paging } = paginate(context, names, (name) => name);
  return { PolicyNames: { member: items }, ...paging };
};

export const deleteUserPolicy: IamAction = async (context, action) => {
  const user = findStored(context, action);
  const { name } = findPolicy(context, user);
  const { [name]: _, ...rest } = readPolicies(user);
  await context.accounts.changeUser(user.name, { policies: JSON.stringify(rest) });
  return undefined;
};

export const attachUserPolicy: IamAction = async (context, action) => {
  const user = findStored(context, action);
  const arn = context.read("PolicyArn") ?? "";
  if (findManagedPolicy(arn) === undefined) {
    throw new IamError("NoSuchEntity", `Policy ${arn.slice(0, 200)} does not exist or is not attachable.`);
  }
  const attached = [...new Set([...readAttached(user), arn])];
  if (attached.length > MAX_ATTACHED) {
    throw new IamError("LimitExceeded", `A user may have ${MAX_ATTACHED} attached policies.`);
  }
  await context.accounts.changeUser(user.name, { attached: JSON.stringify(attached) });
  return undefined;
};

export const listAttachedUserPolicies: IamAction = (context, action) => {
  const { items, paging } = paginate(context, readAttached(findStored(context, action)), (arn) => arn);
  const member = items.map((arn) => ({ PolicyName: nameOfPolicy(arn), PolicyArn: arn }));
  return { AttachedPolicies: { member }, ...paging };
};

export const detachUserPolicy: IamAction = async (context, action) => {
  const user = findStored(context, action);
  const arn = context.read("PolicyArn") ?? "";
  const attached = readAttached(user);
  if (!attached.includes(arn)) {
    throw new IamError("NoSuchEntity", `Policy ${arn.slice(0, 200)} was not found.`);
  }
  const rest = attached.filter((each) => each !== arn);
  await context.accounts.changeUser(user.name, { attached: JSON.stringify(rest) });
  return undefined;
};

/** The deployment's root user has no policies: it may do everything. @throws {IamError} AccessDenied */
function findStored(context: IamContext, action: string): User {
  const user = findTarget(context, action);
  if (user.policy === "") {
    throw new IamError("AccessDenied", "The root user has no policies.");
  }
  return user;
}

function readPolicies({ policies }: User): Readonly<Record<string, string>> {
  return policies === null ? {} : (JSON.parse(policies) as Record<string, string>);
}

function readAttached({ attached }: User): readonly string[] {
  return attached === null ? [] : (JSON.parse(attached) as string[]).toSorted();
}

function findPolicy(context: IamContext, user: User): { readonly name: string; readonly document: string } {
  const name = need(context, "PolicyName");
  const document = readPolicies(user)[name];
  if (document === undefined) {
    throw new IamError("NoSuchEntity", `The user policy with name ${name} cannot be found.`);
  }
  return { name, document };
}

/** @throws {IamError} MalformedPolicyDocument */
function checkDocument(text: string): void {
  try {
    parsePolicy(text);
  } catch (error) {
    throw error instanceof S3Error ? new IamError("MalformedPolicyDocument", error.message) : error;
  }
  const { Version, Statement } = JSON.parse(text) as { readonly Version?: string; readonly Statement: unknown };
  if (Version !== undefined && Version !== "2012-10-17" && Version !== "2008-10-17") {
    throw new IamError("MalformedPolicyDocument", "The policy version must be 2012-10-17.");
  }
  const ids = (Array.isArray(Statement) ? (Statement as { Sid?: string }[]) : []).flatMap(({ Sid }) => Sid ?? []);
  if (new Set(ids).size < ids.length) {
    throw new IamError("MalformedPolicyDocument", "Statement IDs (SID) in a single policy must be unique.");
  }
}
