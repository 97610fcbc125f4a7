import type { PlatformSettings, Variables, Variant } from "@swath/manifest";

interface Expected {
  readonly variable: keyof Variables;
  readonly component: string;
  readonly title: string;
  readonly variant?: Variant;
}

/** What each switch asks for. */
const EXPECTED: readonly Expected[] = [
  { variable: "REQUIRE_IDENTITY_SERVICE", component: "identity", title: "identity service", variant: "A" },
  { variable: "REQUIRE_LOGIN_SERVICE", component: "identity", title: "login service", variant: "B" },
  { variable: "REQUIRE_PDP", component: "identity", title: "policy decision point", variant: "B" },
  { variable: "REQUIRE_USER_PROFILE", component: "identity", title: "user profile", variant: "B" },
  { variable: "REQUIRE_ADES", component: "ades", title: "processing service" },
  { variable: "REQUIRE_RESOURCE_CATALOGUE", component: "resource-catalogue", title: "resource catalogue" },
  { variable: "REQUIRE_DATA_ACCESS", component: "data-access", title: "data access" },
  { variable: "REQUIRE_REGISTRATION_API", component: "registration-api", title: "registration API" },
  { variable: "REQUIRE_WORKSPACE_API", component: "workspace-api", title: "workspace API" },
  { variable: "REQUIRE_BUCKET_OPERATOR", component: "bucket-operator", title: "bucket operator", variant: "B" },
  { variable: "REQUIRE_REGISTRY", component: "registry", title: "image registry" },
  { variable: "REQUIRE_APPLICATION_HUB", component: "application-hub", title: "application hub", variant: "A" },
  { variable: "REQUIRE_PDE", component: "application-hub", title: "processor development environment", variant: "B" },
  { variable: "REQUIRE_PORTAL", component: "portal", title: "portal" },
];

/** Titles of the components that the settings ask for and this version does not have. */
export function listMissingComponents(
  { variant, variables }: PlatformSettings,
  known: readonly { readonly name: string }[],
): readonly string[] {
  return EXPECTED.filter(
    (expected) =>
      variables[expected.variable] === true &&
      (expected.variant ?? variant) === variant &&
      !known.some(({ name }) => name === expected.component),
  ).map(({ title }) => title);
}
