import { defineSettings } from "@swath/service";

/** Settings of the service (`main.ts`). */
export const settings = defineSettings({
  DATABASE_URL: { kind: "string", secret: true, description: "Connection string of PostgreSQL." },
  PUBLIC_URL: { kind: "url", description: "Public base URL; issuers are <this>/realms/<realm>." },
  PLATFORM_DOMAIN: {
    kind: "string",
    description: "Domain of the deployment: a redirect URI of * means its hosts and the loopback interface.",
  },
  LOGIN_PROVIDER: {
    kind: "string",
    optional: true,
    description:
      "Answer as the login service of variant B, too: its endpoints are below /<this>/restv1, and the issuer of LOGIN_REALM is PUBLIC_URL alone.",
  },
  LOGIN_REALM: { kind: "string", default: "master", description: "Realm that the login service is a face of." },
  LOGIN_REGISTRATION: {
    kind: "string",
    default: "operators",
    description: "Who registers clients at the login service: operators, or open for everybody.",
  },
  DECISIONS: {
    kind: "string",
    default: "callers",
    description:
      "Whom the decision point tells its decisions: callers with a token or a client's secret, or open for all callers.",
  },
  DEMO_PASSWORD: {
    kind: "boolean",
    default: false,
    description:
      "Let people have the platform's default password, changeme, although it is a common one: for a deployment that other machines cannot reach.",
  },
  DECISION_POINT: {
    kind: "boolean",
    default: true,
    description: "Offer the policy decision point at /pdp of the login service.",
  },
  DECISION_ALLOW_PRIVATE: {
    kind: "string",
    optional: true,
    description: "Hosts and networks, separated by commas, beside public ones that policies may name as delegate.",
  },
  CLIENT_REGISTRATION: {
    kind: "string",
    default: "off",
    description:
      "Who registers clients below /realms/<realm>/clients-registrations/openid-connect: nobody (off), operators, or everybody (open), where people must then agree to a login with them.",
  },
  CLIENT_ALLOW_PRIVATE: {
    kind: "string",
    optional: true,
    description:
      "Hosts and networks, separated by commas, beside public ones and the deployment's own hosts that clients may name: for their keys, and to be told of logouts.",
  },
  USER_PROFILE: {
    kind: "boolean",
    default: false,
    description: "Offer the user profile at /web_ui of the login service.",
  },
  SMTP_URL: {
    kind: "string",
    optional: true,
    secret: true,
    description:
      "Mail server: smtp[s]://[user:password@]host[:port]. Without one messages are kept, and operators read them at /web_ui/outbox.",
  },
  SMTP_FROM: { kind: "string", optional: true, description: "Sender of messages." },
  REMOVAL_DELAY: {
    kind: "duration",
    default: "14d",
    minimum: 1,
    description: "How long users who asked for the removal of their account may think again.",
  },
  DATABASE_CONNECTIONS: { kind: "integer", default: 16, minimum: 2, maximum: 200, description: "Pool of connections." },
  HASH_CONCURRENCY: {
    kind: "integer",
    default: 1,
    minimum: 1,
    maximum: 64,
    description: "Passwords hashed at once: each takes a core and 19 MiB for some 30 ms.",
  },
  CLEAN_UP_INTERVAL: {
    kind: "duration",
    default: "10m",
    minimum: 1,
    description: "How often expired sessions, codes, events and retired keys are removed.",
  },
});
