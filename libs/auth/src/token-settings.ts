import { defineSettings } from "@swath/service";

import { administratorSettings } from "./administrators.ts";

export { administratorSettings };

/** Settings of services that take access tokens of the platform's identity service, or of another issuer. */
export const tokenSettings = defineSettings({
  ...administratorSettings,
  IDENTITY_ISSUER: { kind: "url", optional: true, description: "Whose access tokens are accepted." },
  ACCEPTED_AUDIENCES: {
    kind: "string",
    default: "swath-platform",
    description: "Audiences that access tokens may have besides this service's own, separated by commas.",
  },
  IDENTITY_INTERNAL_URL: { kind: "string", optional: true, description: "The identity service inside the deployment." },
  ACCEPT_ID_TOKENS: {
    kind: "boolean",
    default: false,
    description:
      "Take ID tokens of the issuer as well, as Bearer or in X-User-Id: the login service's clients send them.",
  },
});
