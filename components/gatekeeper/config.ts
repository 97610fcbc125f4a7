import { defineSettings } from "@swath/service";

export const settings = defineSettings({
  GATEKEEPER_HOSTS: {
    kind: "string",
    description:
      "JSON object of protected hosts: name to { url, upstream, clientId, secret, openPaths?, wildcard?, resources? }, where upstream and secret name environment variables.",
  },
  PLATFORM_DOMAIN: {
    kind: "string",
    description: "Stem of all host names; login cookies are set for it, and pages below it may use them.",
  },
  IDENTITY_ISSUER: {
    kind: "url",
    optional: true,
    description: "Issuer of access tokens, as their claim iss has it. Without it only open paths pass.",
  },
  ACCEPT_ID_TOKENS: {
    kind: "boolean",
    default: false,
    description:
      "Take ID tokens of the issuer as well, as Bearer or in X-User-Id: the login service's clients send them.",
  },
  IDENTITY_INTERNAL_URL: {
    kind: "string",
    optional: true,
    description:
      "Peer address of the platform's own identity service, which holds the rules. Without it the rules are those in GATEKEEPER_HOSTS and the issuer is someone else's.",
  },
  DATABASE_URL: {
    kind: "string",
    optional: true,
    secret: true,
    description:
      "PostgreSQL by which replicas tell each other of ended logins, where the issuer is someone else's and tells one of them only.",
  },
  IDENTITY_REALM: {
    kind: "string",
    default: "master",
    description: "Realm of the platform's own identity service.",
  },
  ENCRYPTION_KEY: {
    kind: "string",
    secret: true,
    description: "Secret that seals what is kept in browsers: pending logins and refresh tokens.",
  },
  ENCRYPTION_KEY_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While the key is changed: the other one, which opens what it sealed.",
  },
  ACCEPTED_AUDIENCES: {
    kind: "string",
    default: "swath-platform",
    description: "Audiences that tokens may have besides the client of the host, separated by commas.",
  },
  USERNAME_CLAIM: {
    kind: "string",
    default: "preferred_username",
    description: "Claim that holds the user name.",
  },
  ROLES_CLAIM: {
    kind: "string",
    optional: true,
    description: "Claim with a list of role names, read besides realm_access.roles; dots reach into objects.",
  },
  ACCESS_COOKIE: {
    kind: "string",
    default: "auth_user_id",
    description: "Cookie that holds the access token.",
  },
  REFRESH_COOKIE: {
    kind: "string",
    default: "auth_refresh_token",
    description: "Cookie that holds the refresh token.",
  },
  PORTAL_CLIENT_ID: {
    kind: "string",
    default: "swath-portal",
    description: "Public client whose refresh tokens the cookies hold when nothing says otherwise.",
  },
  PAGE_ORIGINS: {
    kind: "string",
    default: "",
    description:
      "Origins of the platform's own pages besides the protected hosts, separated by commas: pages of other origins cannot use a login in cookies. Every host below the domain when empty.",
  },
  CHALLENGE_REALM: {
    kind: "string",
    optional: true,
    description: "Realm that refusals without a token name: where people log in. The host itself when left out.",
  },
  UMA: {
    kind: "boolean",
    default: false,
    description: "Answers 401 with a permission ticket of UMA 2.0 as well, where the rules are the identity service's.",
  },
  POLICY_MAX_AGE: {
    kind: "duration",
    default: "60s",
    minimum: 1,
    description: "How long rules are used without asking while changes are told at once; 5 seconds while they are not.",
  },
});
