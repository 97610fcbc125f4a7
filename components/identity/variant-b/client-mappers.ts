import { PLATFORM_MAPPER } from "../claims/platform-mapper.ts";

/** Makes a client's tokens of both kinds good for the services of the platform, with the roles that the user has there. */
export const LOGIN_CLIENT_MAPPERS = [
  { ...PLATFORM_MAPPER, config: { ...PLATFORM_MAPPER.config, "id.token.claim": "true" } },
  {
    name: "realm roles in ID tokens",
    type: "oidc-usermodel-realm-role-mapper",
    config: { "claim.name": "realm_access.roles", multivalued: "true", "id.token.claim": "true" },
  },
] as const;
