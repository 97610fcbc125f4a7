import type { AccessKey, User } from "../store/accounts.ts";
import { type IamAction, type IamContext, findTarget, paginate } from "./iam-context.ts";
import { IamError } from "./iam-error.ts";
import { toTime } from "./users.ts";

const MAX_KEYS_PER_USER = 100;

export const createAccessKey: IamAction = async (context, action) => {
  const { name } = findTarget(context, action);
  if (context.accounts.listKeys(name).length >= MAX_KEYS_PER_USER) {
    throw new IamError("LimitExceeded", `A user may have ${MAX_KEYS_PER_USER} access keys.`);
  }
  const key = await context.accounts.createKey({ kind: "AKIA", user: name });
  return { AccessKey: { ...describe(key), SecretAccessKey: key.secret } };
};

export const listAccessKeys: IamAction = (context, action) => {
  const user = findTarget(context, action);
  const keys = context.accounts.listKeys(user.name).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const { items, paging } = paginate(context, keys, ({ id }) => id);
  return { UserName: user.name, AccessKeyMetadata: { member: items.map(describe) }, ...paging };
};

export const updateAccessKey: IamAction = async (context, action) => {
  const key = findKey(context, findTarget(context, action));
  const status = context.read("Status");
  if (status !== "Active" && status !== "Inactive") {
    throw new IamError("ValidationError", "Status must be Active or Inactive.");
  }
  await context.accounts.enableKey(key.id, status === "Active");
  return undefined;
};

export const deleteAccessKey: IamAction = async (context, action) => {
  await context.accounts.deleteKey(findKey(context, findTarget(context, action)).id);
  return undefined;
};

function describe({ user, id, enabled, created }: AccessKey) {
  return {
    UserName: user,
    AccessKeyId: id,
    Status: enabled === 1 ? "Active" : "Inactive",
    CreateDate: toTime(created),
  };
}

/** @throws {IamError} NoSuchEntity */
function findKey({ accounts, read }: IamContext, user: User): AccessKey {
  const id = read("AccessKeyId") ?? "";
  const key = accounts.findKey(id);
  if (key === undefined || key.user !== user.name || key.token !== null) {
    throw new IamError("NoSuchEntity", `The Access Key with id ${id.slice(0, 128)} cannot be found.`);
  }
  return key;
}
