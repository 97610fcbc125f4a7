import { Problem } from "@swath/service";

import { Type } from "typebox";

import { parsePolicy } from "../access/policy.ts";
import { S3Error } from "../errors.ts";
import { type AccessKey, type Role, type User, valuesOf } from "../store/accounts.ts";

/** Names of users and roles. */
export const Name = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$" });
/** A policy document; what it holds is checked by `checkPolicy`. */
export const Policy = Type.Object({}, { additionalProperties: true });

/** @throws {Problem} 400 with what is wrong about a policy */
export function checkPolicy(text: string, bucket?: string): void {
  try {
    parsePolicy(text, bucket);
  } catch (error) {
    throw error instanceof S3Error ? new Problem(400, error.message) : error;
  }
}

/** An access key without its secret. */
export function toKeyJson({ id, user, title, created, enabled, expires, policy }: AccessKey) {
  return {
    accessKey: id,
    user,
    title,
    created: new Date(created).toISOString(),
    enabled: enabled === 1,
    expires: expires === null ? null : new Date(expires).toISOString(),
    policy: policy === null ? null : (JSON.parse(policy) as object),
  };
}

export function toUserJson({ name, created, enabled, policy, account, email, boundary }: User) {
  return {
    name,
    account,
    email,
    boundary: boundary === null ? null : (JSON.parse(boundary) as object),
    created: new Date(created).toISOString(),
    enabled: enabled === 1,
    policy: JSON.parse(policy) as object,
  };
}

export function toRoleJson(role: Role) {
  return {
    name: role.name,
    created: new Date(role.created).toISOString(),
    claim: role.claim,
    values: valuesOf(role),
    policy: JSON.parse(role.policy) as object,
  };
}
