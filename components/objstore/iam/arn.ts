import type { User } from "../store/accounts.ts";

/** How policies and answers name a user. Who owns an account is its root. */
export function toUserArn({ name, account, path }: Pick<User, "name" | "account" | "path">): string {
  return account === name ? `arn:aws:iam::${account}:root` : `arn:aws:iam::${account}:user${path}${name}`;
}
