import { Refusal } from "../errors.ts";

/** A host as it is looked up and sent on. */
export interface CanonicalHost {
  /** Lower case, without port and without the dot of a fully qualified name. */
  readonly name: string;
  /** `name` with the port the client gave. */
  readonly authority: string;
}

const LABELS = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/**
 * Reads a Host header or the authority of an absolute request target.
 * @throws {Refusal} AMBIGUOUS_REQUEST
 */
export function canonicalizeHost(value: string): CanonicalHost {
  const match = /^([^:]+?)\.?(?::(\d{1,5}))?$/.exec(value.toLowerCase());
  const name = match?.[1] ?? "";
  if (name.length > 253 || !LABELS.test(name)) {
    throw new Refusal("AMBIGUOUS_REQUEST", { because: "its host is not a host name" });
  }
  return { name, authority: match?.[2] === undefined ? name : `${name}:${match[2]}` };
}
