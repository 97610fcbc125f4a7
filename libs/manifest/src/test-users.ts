import type { PlatformSettings, Variables } from "./settings.ts";
import type { PlatformSecret } from "./values.ts";

export interface TestUser {
  readonly name: string;
  readonly password: PlatformSecret;
}

const NAMES = ["eric", "bob", "alice"];

/** The users that a deployment makes to be tried with, where it makes any. A generated password is one user's alone. */
export function listTestUsers(
  variables: Pick<Variables, "IDENTITY_SERVICE_DEFAULT_SECRET" | "IDENTITY_SERVICE_TEST_USERS" | "PLATFORM_VARIANT">,
): readonly TestUser[] {
  const { IDENTITY_SERVICE_DEFAULT_SECRET: secret, IDENTITY_SERVICE_TEST_USERS: made } = variables;
  // In variant B people make them in the login service.
  return (made && variables.PLATFORM_VARIANT === "A" ? NAMES : []).map((name) => ({
    name,
    password: secret.kind === "generated" ? { ...secret, name: `${secret.name}.${name}` } : secret,
  }));
}

/** Users whose folders the deployment protects. In variant B the protection script does that, for users that people made. */
export function listDeclaredUsers({ variant }: Pick<PlatformSettings, "variant">): readonly string[] {
  return variant === "A" ? NAMES : [];
}
