import { Problem } from "@swath/service";

import { parsePolicy } from "../access/policy.ts";
import { S3Error } from "../errors.ts";
import type { AccessKey } from "../store/accounts.ts";

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
