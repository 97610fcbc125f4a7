import type { XmlElement } from "../protocol/xml.ts";
import type { User } from "../store/accounts.ts";
import { toUserArn } from "./arn.ts";
import { type IamAction, type IamContext, authorize, findTarget, need, paginate } from "./iam-context.ts";
import { IamError } from "./iam-error.ts";

const MAX_NAME_CHARACTERS = 64;
const PATH = /^\/(?:[!-~]+\/)?$/;
const NOTHING = JSON.stringify({ Version: "2012-10-17", Statement: [] });

/** CreateUser: a user of the caller's account, who may nothing yet. */
export const createUser: IamAction = async (context, action) => {
  const { accounts, principal } = context;
  const name = needName(context, "UserName");
  const path = readPath(context, "Path") ?? "/";
  authorize(context, action, { name, account: principal.account, path });
  checkFree(context, name);
  const creator = principal.kind === "root" ? undefined : accounts.findUser(principal.name);
  const user = await accounts.addUser(name, {
    policy: NOTHING,
    account: principal.account,
    path,
    // Nobody gives what the own boundary does not.
    boundary: creator?.boundary ?? undefined,
  });
  return { User: describe(user) };
};

export const getUser: IamAction = (context, action) => ({ User: describe(findTarget(context, action)) });

/** ListUsers: of the caller's account, without its root. */
export const listUsers: IamAction = (context, action) => {
  const { accounts, principal } = context;
  const { account } = principal;
  authorize(context, action, { name: "*", account, path: "/" });
  const prefix = context.read("PathPrefix") ?? "/";
  const users = accounts
    .listUsersOf(account)
    .filter(({ name, path }) => (account === "" || name !== account) && path.startsWith(prefix));
  const { items, paging } = paginate(context, users, ({ name }) => name.toLowerCase());
  return { Users: { member: items.map(describe) }, ...paging };
};

export const updateUser: IamAction = async (context, action) => {
  const user = needOrdinary(findTarget(context, action));
  const path = readPath(context, "NewPath") ?? user.path;
  const name = context.read("NewUserName") === undefined ? user.name : needName(context, "NewUserName");
  authorize(context, action, { name, account: user.account, path });
  if (name.toLowerCase() !== user.name.toLowerCase()) {
    checkFree(context, name);
  }
  await context.accounts.changeUser(user.name, { name, path });
  return undefined;
};

export const deleteUser: IamAction = async (context, action) => {
  const user = needOrdinary(findTarget(context, action));
  const { accounts } = context;
  const has = (json: string | null) => json !== null && json !== "{}" && json !== "[]";
  if (accounts.listKeys(user.name).length > 0 || has(user.policies) || has(user.attached)) {
    throw new IamError("DeleteConflict", "Cannot delete entity, must delete access keys and policies first.");
  }
  await accounts.deleteUser(user.name);
  return undefined;
};

export function describe(user: User): XmlElement {
  return {
    Path: user.path,
    UserName: user.name,
    UserId: user.account === user.name ? user.account : (user.id ?? user.name),
    Arn: toUserArn(user),
    CreateDate: toTime(user.created),
  };
}

export function toTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Roots of accounts are made and removed by the administration API. @throws {IamError} AccessDenied */
function needOrdinary(user: User): User {
  if (user.account === user.name || user.policy === "") {
    throw new IamError("AccessDenied", "The root user of an account cannot be changed here.");
  }
  return user;
}

function needName(context: IamContext, parameter: string): string {
  const name = need(context, parameter);
  if (name.length > MAX_NAME_CHARACTERS) {
    throw new IamError("ValidationError", `${parameter} may have ${MAX_NAME_CHARACTERS} characters.`);
  }
  return name;
}

/** @throws {IamError} ValidationError */
function readPath({ read }: IamContext, name: string): string | undefined {
  const path = read(name);
  if (path !== undefined && (!PATH.test(path) || path.length > 512)) {
    throw new IamError("ValidationError", `${name} must begin and end with / and have 512 characters at most.`);
  }
  return path;
}

function checkFree({ accounts, rootUser }: IamContext, name: string): void {
  if (accounts.findUserByName(name) !== undefined || name.toLowerCase() === rootUser.toLowerCase()) {
    throw new IamError("EntityAlreadyExists", `User with name ${name} already exists.`);
  }
}
