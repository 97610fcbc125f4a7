/** Variables of a deployment of the dummy service alone (and PostgreSQL): what starts fast. */
export const dummyServiceOnly = {
  REQUIRE_IDENTITY_SERVICE: "false",
  REQUIRE_ADES: "false",
  REQUIRE_RESOURCE_CATALOGUE: "false",
  REQUIRE_DATA_ACCESS: "false",
  REQUIRE_REGISTRATION_API: "false",
  REQUIRE_WORKSPACE_API: "false",
  REQUIRE_APPLICATION_HUB: "false",
  REQUIRE_PORTAL: "false",
  REQUIRE_OBJSTORE: "false",
  REQUIRE_DUMMY_SERVICE: "true",
} as const;
