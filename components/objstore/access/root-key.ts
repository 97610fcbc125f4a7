import type { AccessKey } from "../store/accounts.ts";

/** The key of the root user, which is a setting and in no table. */
export function toRootKey(user: string, secret: string): AccessKey {
  return {
    id: user,
    secret,
    user,
    title: "root",
    created: 0,
    enabled: 1,
    policy: null,
    expires: null,
    token: null,
    claims: null,
    session_policy: null,
    parent: null,
    roles: null,
  };
}
