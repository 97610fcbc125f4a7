import { defineSettings } from "@swath/service";

/** Settings of the set-up task (`bootstrap/main.ts`). */
export const bootstrapSettings = defineSettings({
  DATABASE_URL: { kind: "string", secret: true, description: "Connection string of PostgreSQL." },
  IDENTITY_REALM: {
    kind: "string",
    default: "master",
    description: "Realm of the platform; it must exist unless master.",
  },
  IDENTITY_ADMIN_USER: { kind: "string", default: "admin", description: "Name of the administrator." },
  IDENTITY_ADMIN_PASSWORD: { kind: "string", secret: true, description: "Password of the administrator." },
  IDENTITY_ADMIN_CLIENT: {
    kind: "string",
    default: "admin-cli",
    description: "Public client that the helpers log in with.",
  },
  IDENTITY_TEST_USERS: {
    kind: "string",
    default: "",
    description:
      "Users that are made once, separated by commas; the variable TEST_USER_PASSWORD_<NAME IN CAPITALS> holds the password of each.",
  },
  LOGIN_SCOPES: {
    kind: "boolean",
    default: false,
    description: "Make the scopes that clients of the login service (variant B) ask for.",
  },
  IDENTITY_CLIENTS: {
    kind: "string",
    default: "[]",
    description: "JSON: the clients that components declare; `secretEnv` names the variable with a client's secret.",
  },
});
