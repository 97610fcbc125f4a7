/** A policy of the decision point as its API shows it. */
export interface DecisionPolicy {
  readonly id: string;
  readonly name: string;
  readonly config: {
    readonly resource_id: string;
    readonly action: string;
    readonly "T&C": readonly string[];
    readonly rules: readonly unknown[];
    readonly delegate?: string;
  };
  readonly scopes: readonly string[];
}

/** What a policy of variant B is in variant A. */
export type Conversion =
  | { readonly kind: "users"; readonly users: readonly string[] }
  /** It stays as it is: the engine of variant A decides by it too, and its console does not show it. */
  | { readonly kind: "kept"; readonly because: string };

const USER_NAMES = ["user_name", "userName", "preferred_username"];
const USER_IDS = ["id", "sub"];

/** Rules that only say which users may become a user policy; all others stay rules. */
export function convertPolicy({ config }: DecisionPolicy): Conversion {
  if (config.delegate !== undefined) {
    return {
      kind: "kept",
      because: "another decision point decides too; nobody asks it in variant A, so it lets nobody in",
    };
  }
  if (config["T&C"].length > 0) {
    return { kind: "kept", because: "it asks for terms to be accepted" };
  }
  const [rule, ...more] = config.rules;
  const users = more.length === 0 ? readUsers(rule) : undefined;
  return users === undefined
    ? { kind: "kept", because: "its rules say more than which users may" }
    : { kind: "users", users };
}

/** `{ EQUAL: { user_name: "eric" } }`, or several of them in OR. */
function readUsers(rule: unknown): readonly string[] | undefined {
  const entries = Object.entries(Object(rule) as Record<string, unknown>);
  const [[operator, operand] = ["", undefined]] = entries;
  if (entries.length !== 1) {
    return undefined;
  }
  if (operator === "OR" || (operator === "AND" && Array.isArray(operand) && operand.length === 1)) {
    const found = (Array.isArray(operand) ? (operand as readonly unknown[]) : [operand]).map(readUsers);
    return found.length === 0 || found.includes(undefined) ? undefined : found.flatMap((users) => users ?? []);
  }
  const fields = operator === "EQUAL" ? Object.entries(Object(operand) as Record<string, unknown>) : [];
  const [[name, value] = ["", undefined]] = fields;
  return fields.length === 1 && [...USER_NAMES, ...USER_IDS].includes(name) && typeof value === "string" && value !== ""
    ? [value]
    : undefined;
}
