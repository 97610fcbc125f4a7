import { LRUCache } from "lru-cache";

import { type Policy, parsePolicy } from "./policy.ts";

const LIMIT = 1000;
const known = new LRUCache<string, Policy>({ max: LIMIT });

/** `parsePolicy` that remembers: the same few policies decide every request. @throws {S3Error} MalformedPolicy */
export function parsePolicyCached(text: string, bucket?: string): Policy {
  const name = `${bucket ?? ""} ${text}`;
  let policy = known.get(name);
  if (policy === undefined) {
    policy = parsePolicy(text, bucket);
    known.set(name, policy);
  }
  return policy;
}
