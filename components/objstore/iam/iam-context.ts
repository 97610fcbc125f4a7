import { noContext } from "../access/circumstances.ts";
import { isAllowed } from "../access/evaluate.ts";
import { type Principal, nameOf } from "../access/principal.ts";
import type { XmlElement } from "../protocol/xml.ts";
import type { AccessKey, Accounts, User } from "../store/accounts.ts";
import { toUserArn } from "./arn.ts";
import { IamError } from "./iam-error.ts";

/** One request of the IAM or STS API whose signature was verified. */
export interface IamContext {
  readonly accounts: Accounts;
  readonly rootUser: string;
  readonly principal: Exclude<Principal, { readonly kind: "anonymous" }>;
  /** The key that signed. */
  readonly key: AccessKey;
  readonly now: () => number;
  /** A parameter; undefined when it is absent. */
  readonly read: (name: string) => string | undefined;
}

/** One action: gives the content of its `…Result`, or nothing. */
export type IamAction = (
  context: IamContext,
  action: string,
) => XmlElement | undefined | Promise<XmlElement | undefined>;

/** @throws {IamError} ValidationError */
export function need({ read }: IamContext, name: string, pattern = /^[\w+=,.@-]{1,128}$/): string {
  const value = read(name);
  if (value === undefined || !pattern.test(value)) {
    throw new IamError("ValidationError", `${name} must be given and match ${pattern.source}.`);
  }
  return value;
}

/** The user that is asked for, or the caller's own. @throws {IamError} NoSuchEntity, AccessDenied */
export function findTarget(context: IamContext, action: string): User {
  const name = context.read("UserName") ?? nameOf(context.principal);
  const user = name === context.rootUser ? toRootUser(name) : context.accounts.findUserByName(name);
  authorize(context, action, user ?? { name, account: context.principal.account, path: "/" });
  if (user === undefined) {
    throw new IamError("NoSuchEntity", `The user with name ${name} cannot be found.`);
  }
  return user;
}

/** The root user of the deployment is none of the index: nothing of it can be changed here. */
function toRootUser(name: string): User {
  return {
    name, id: name, created: 0, enabled: 1, policy: "", account: "", email: null, boundary: null, path: "/", policies: null, attached: null,
  }; // prettier-ignore
}

/**
 * Asks whether the caller may do an action to a user. An account decides over its own users; the deployment's over all. What gives
 * rights takes a key that lasts and is not narrowed: it would give more than the key has.
 * @throws {IamError} AccessDenied
 */
export function authorize(
  { principal, key }: IamContext,
  action: string,
  target: Pick<User, "name" | "account" | "path">,
): void {
  const arn = toUserArn(target);
  const isRead = /^(?:Get|List)/.test(action);
  const isFull =
    key.policy === null &&
    key.session_policy === null &&
    key.claims === null &&
    key.token === null &&
    key.expires === null;
  const isOwn = principal.account === "" || principal.account === target.account;
  const question = { action: `iam:${action}`, resource: arn, context: noContext };
  if (!isOwn || !(isRead || isFull) || !isAllowed(principal, undefined, question)) {
    throw new IamError(
      "AccessDenied",
      `User ${nameOf(principal)} is not authorized to perform iam:${action} on resource ${arn}.`,
    );
  }
}

interface Page<T> {
  readonly items: readonly T[];
  /** `IsTruncated` and `Marker` of the answer. */
  readonly paging: XmlElement;
}

/** One page of what is in the order of `nameOf`. @throws {IamError} ValidationError */
export function paginate<T>({ read }: IamContext, items: readonly T[], nameOfItem: (item: T) => string): Page<T> {
  const limit = Number(read("MaxItems") ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new IamError("ValidationError", "MaxItems must be a whole number from 1 to 1000.");
  }
  const marker = read("Marker");
  const after = marker === undefined ? undefined : Buffer.from(marker, "base64url").toString();
  const rest = after === undefined ? items : items.filter((item) => nameOfItem(item) > after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const isCut = last !== undefined && page.length < rest.length;
  return {
    items: page,
    paging: { IsTruncated: isCut, ...(isCut && { Marker: Buffer.from(nameOfItem(last)).toString("base64url") }) },
  };
}
