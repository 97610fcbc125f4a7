import { PLATFORM_AUDIENCE } from "@swath/auth";

/** Makes a client's tokens good for every service of the deployment. The operator may remove it from a client. */
export const PLATFORM_MAPPER = {
  name: "platform services",
  type: "oidc-audience-mapper",
  config: {
    "included.custom.audience": PLATFORM_AUDIENCE,
    "access.token.claim": "true",
    "id.token.claim": "false",
  },
} as const;
