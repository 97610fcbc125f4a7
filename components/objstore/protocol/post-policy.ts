import { S3Error } from "../errors.ts";

/** Fields of a form upload, names in lower case. */
export type FormFields = ReadonlyMap<string, string>;

/** Bytes that the file may have. */
export interface SizeRange {
  readonly minimum: number;
  readonly maximum: number;
}

type Condition =
  | { readonly kind: "eq" | "starts-with"; readonly field: string; readonly value: string }
  | ({ readonly kind: "content-length-range" } & SizeRange);

/** Fields that no condition has to mention. */
const EXEMPT = new Set(["policy", "x-amz-signature", "signature", "awsaccesskeyid", "file"]);

/**
 * Checks a form against the policy that its signer gave (Signature Version 4, "Creating a POST policy"): not expired, every
 * condition holds, and no field is there that no condition mentions. `${filename}` is replaced in the key before.
 * @param text the policy document, decoded
 * @throws {S3Error} InvalidPolicyDocument when it cannot be read, AccessDenied when the form does not fit
 */
export function checkPostPolicy(text: string, bucket: string, fields: FormFields, now: number): SizeRange {
  const { expires, conditions } = parsePostPolicy(text);
  if (now >= expires) {
    throw refuse("Policy expired.");
  }
  let range: SizeRange = { minimum: 0, maximum: Infinity };
  const mentioned = new Set<string>();
  for (const condition of conditions) {
    if (condition.kind === "content-length-range") {
      range = {
        minimum: Math.max(range.minimum, condition.minimum),
        maximum: Math.min(range.maximum, condition.maximum),
      };
      continue;
    }
    const { kind, field, value } = condition;
    mentioned.add(field);
    const found = field === "bucket" ? bucket : (fields.get(field) ?? "");
    // A list of content types fits when each of them does.
    const values = kind === "starts-with" && field === "content-type" ? found.split(/ *, */) : [found];
    if (!values.every((each) => (kind === "eq" ? each === value : each.startsWith(value)))) {
      throw refuse(`Policy Condition failed: ${JSON.stringify([kind, `$${field}`, value])}`);
    }
  }
  const extra = [...fields.keys()].filter(
    (name) =>
      !mentioned.has(name) &&
      !EXEMPT.has(name) &&
      !name.startsWith("x-ignore-") &&
      // What the bytes must be takes nothing from what the policy allows.
      !name.startsWith("x-amz-checksum-"),
  );
  if (extra.length > 0) {
    throw refuse(`Extra input fields: ${extra.join(", ").slice(0, 500)}`);
  }
  return range;
}

function parsePostPolicy(text: string): { expires: number; conditions: readonly Condition[] } {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new S3Error("InvalidPolicyDocument", "Invalid Policy: Invalid JSON.", { cause: error });
  }
  const { expiration, conditions } = (document ?? {}) as { expiration?: unknown; conditions?: unknown };
  const expires =
    typeof expiration === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(expiration)
      ? Date.parse(expiration)
      : Number.NaN;
  if (Number.isNaN(expires)) {
    throw new S3Error(
      "InvalidPolicyDocument",
      "Invalid Policy: expiration must be a time such as 2030-01-31T12:00:00Z.",
    );
  }
  if (!Array.isArray(conditions)) {
    throw new S3Error("InvalidPolicyDocument", "Invalid Policy: conditions must be a list.");
  }
  return { expires, conditions: (conditions as unknown[]).flatMap(parseCondition) };
}

function parseCondition(value: unknown): Condition[] {
  if (Array.isArray(value)) {
    const [kind, first, second] = value as unknown[];
    if (value.length === 3 && typeof kind === "string") {
      const name = kind.toLowerCase();
      const [minimum, maximum] = [Number(first), Number(second)];
      if (name === "content-length-range" && isSize(minimum) && isSize(maximum)) {
        return [{ kind: "content-length-range", minimum, maximum }];
      }
      if ((name === "eq" || name === "starts-with") && isField(first) && typeof second === "string") {
        return [{ kind: name, field: first.slice(1).toLowerCase(), value: second }];
      }
    }
  } else if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value as Record<string, unknown>);
    if (pairs.length > 0 && pairs.every(([, each]) => typeof each === "string")) {
      return pairs.map(([name, each]) => ({ kind: "eq", field: name.toLowerCase(), value: each as string }));
    }
  }
  throw new S3Error(
    "InvalidPolicyDocument",
    `Invalid Policy: the condition ${JSON.stringify(value).slice(0, 200)} is none of {"field": "value"}, ["eq" or "starts-with", "$field", "value"], ["content-length-range", minimum, maximum].`,
  );
}

function isField(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("$") && value.length > 1;
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function refuse(why: string): S3Error {
  return new S3Error("AccessDenied", `Invalid according to Policy: ${why}`);
}
