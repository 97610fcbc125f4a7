import { randomBytes } from "node:crypto";

import { nameOf } from "../access/principal.ts";
import { toUserArn } from "./arn.ts";
import { type IamAction, authorize } from "./iam-context.ts";
import { IamError } from "./iam-error.ts";

/** GetCallerIdentity (STS): everybody may ask who they are. */
export const getCallerIdentity: IamAction = ({ accounts, principal }) => {
  const user = principal.kind === "root" ? undefined : accounts.findUser(principal.name);
  return user === undefined
    ? { UserId: nameOf(principal), Account: principal.account, Arn: toCallerArn(principal) }
    : {
        UserId: user.account === user.name ? user.account : (user.id ?? user.name),
        Account: user.account,
        Arn: toUserArn(user),
      };
};

function toCallerArn(principal: Parameters<IamAction>[0]["principal"]): string {
  return principal.kind === "root" ? "arn:aws:iam:::root" : `arn:aws:iam:::user/${principal.name}`;
}

/** GetSessionToken (STS): temporary keys with the rights of the key that asks, which end with it. */
export const getSessionToken: IamAction = async ({ accounts, key, rootUser, read, now }) => {
  const seconds = Number(read("DurationSeconds") ?? 43_200);
  if (!Number.isInteger(seconds) || seconds < 900 || seconds > 129_600) {
    throw new IamError("ValidationError", "DurationSeconds must be a whole number from 900 to 129600.");
  }
  if (key.token !== null) {
    throw new IamError("AccessDenied", "Cannot call GetSessionToken with session credentials.");
  }
  const end = now() + seconds * 1000;
  const expires = Math.min(end, key.expires ?? end);
  const made = await accounts.createKey({
    kind: "ASIA",
    user: key.user,
    title: "session",
    policy: key.policy ?? undefined,
    sessionPolicy: key.session_policy ?? undefined,
    claims: key.claims ?? undefined,
    expires,
    token: randomBytes(32).toString("base64url"),
    parent: key.user === rootUser && key.id === rootUser ? undefined : key.id,
  });
  return {
    Credentials: {
      AccessKeyId: made.id,
      SecretAccessKey: made.secret,
      SessionToken: made.token ?? "",
      Expiration: new Date(expires).toISOString(),
    },
  };
};

/** What there is none of, and may be none. */
const NO_SUCH = { Groups: 0, GroupsQuota: 0, Roles: 0, RolesQuota: 0, Policies: 0, PoliciesQuota: 0 };

/** GetAccountSummary: how many users the account has. */
export const getAccountSummary: IamAction = (context, action) => {
  const { accounts, principal } = context;
  const { account } = principal;
  authorize(context, action, { name: "*", account, path: "/" });
  const users = accounts.listUsersOf(account).filter(({ name }) => account === "" || name !== account).length;
  const summary = { Users: users, UsersQuota: 1_000_000, AccessKeysPerUserQuota: 100, ...NO_SUCH };
  return { SummaryMap: { entry: Object.entries(summary).map(([key, value]) => ({ key, value })) } };
};
