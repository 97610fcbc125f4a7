import type { Variables } from "./settings.ts";
import type { PlatformSecret } from "./values.ts";

export interface TestUser {
  readonly name: string;
  readonly password: PlatformSecret;
}

const NAMES = ["eric", "bob", "alice"];

/** The users that a deployment makes to be tried with, where it makes any. A generated password is one user's alone. */
export function listTestUsers(
  variables: Pick<Variables, "IDENTITY_SERVICE_DEFAULT_SECRET" | "IDENTITY_SERVICE_TEST_USERS">,
): readonly TestUser[] {
  const { IDENTITY_SERVICE_DEFAULT_SECRET: secret, IDENTITY_SERVICE_TEST_USERS: made } = variables;
  return (made ? NAMES : []).map((name) => ({
    name,
    password: secret.kind === "generated" ? { ...secret, name: `${secret.name}.${name}` } : secret,
  }));
}
