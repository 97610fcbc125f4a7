import { derived, fixed, type VariableGroup } from "../define.ts";
import { boolean, choice, hosts, secret, secretUrl, text, url } from "../value-types.ts";
import { defaultSecret, identitySecret } from "./default-secret.ts";

const userName = text({
  pattern: /^[A-Za-z0-9][\w.@+-]{0,62}$/,
  allowed: "a user name: letters, digits and . _ @ + -",
});

/** Users, clients and secrets of the identity service (variant A) and the login service (variant B). */
export const identityVariables = {
  IDENTITY_SERVICE_DEFAULT_SECRET: {
    type: secret(),
    variants: ["A"],
    worksInBoth: true,
    fallback: defaultSecret("IDENTITY_SERVICE_DEFAULT_SECRET"),
    meaning:
      "Where it is set: what the other credentials of the identity service default to, and the password of the test users. Who learns one of them then has them all; left out, each has its own.",
  },
  IDENTITY_SERVICE_TEST_USERS: {
    type: boolean,
    variants: ["A"],
    fallback: derived("true where only this machine reaches the ingress", ({ onLoopback }) => onLoopback()),
    meaning:
      "The users eric, bob and alice are made, to try the platform with. They are made once; false makes none and removes none.",
  },
  IDENTITY_SERVICE_ADMIN_USER: {
    type: userName,
    variants: ["A"],
    fallback: fixed("admin"),
    meaning: "Administrator of the identity service.",
  },
  IDENTITY_SERVICE_ADMIN_PASSWORD: {
    type: secret(),
    variants: ["A"],
    fallback: identitySecret("IDENTITY_SERVICE_ADMIN_PASSWORD"),
    meaning: "Password of the administrator.",
  },
  IDENTITY_SERVICE_ADMIN_CLIENT: {
    type: text({ pattern: /^[\w.:-]{1,255}$/, allowed: "a client id: letters, digits and . _ : -" }),
    variants: ["A"],
    fallback: fixed("admin-cli"),
    meaning: "Client used for administration during the deployment.",
  },
  IDENTITY_POSTGRES_PASSWORD: {
    type: secret(),
    variants: ["A"],
    fallback: identitySecret("IDENTITY_POSTGRES_PASSWORD"),
    meaning: "Password of the deployed PostgreSQL.",
  },
  IDENTITY_GATEKEEPER_CLIENT_SECRET: {
    type: secret(),
    variants: ["A"],
    fallback: identitySecret("IDENTITY_GATEKEEPER_CLIENT_SECRET"),
    meaning:
      "Secret of each identity client that the deployment makes, one per protected service. A generated one differs from client to client.",
  },
  IDENTITY_GATEKEEPER_ENCRYPTION_KEY: {
    type: secret(16),
    variants: ["A"],
    fallback: defaultSecret("IDENTITY_GATEKEEPER_ENCRYPTION_KEY", "changemechangeme", 24),
    meaning: "Key that the proxies in front of protected services encrypt their cookies with.",
  },
  IDENTITY_GATEKEEPER_UMA: {
    type: boolean,
    variants: ["A"],
    fallback: fixed(false),
    meaning:
      "Refusals of the gatekeeper (401) carry a permission ticket of UMA 2.0, for clients that exchange it for a token.",
  },
  IDENTITY_REALM: {
    type: text({ pattern: /^[A-Za-z0-9][\w-]{0,62}$/, allowed: "a realm: letters, digits, _ and -" }),
    variants: ["A"],
    fallback: fixed("master"),
    meaning:
      "Realm of the identity service. The deployment does not make it; changing it will probably break the deployment.",
  },
  IDENTITY_ACCEPTED_AUDIENCES: {
    type: text({ pattern: /^[^\s,]{1,255}( *, *[^\s,]{1,255})*$/, allowed: "audiences, separated by commas" }),
    fallback: derived("account where IDENTITY_ISSUER_URL is set, otherwise swath-platform", ({ get }) =>
      get("IDENTITY_ISSUER_URL") === undefined ? "swath-platform" : "account",
    ),
    meaning:
      "Audiences of which a service accepts tokens besides its own. The identity service adds swath-platform to the tokens of the portal and of the administration client, by a mapper that can be taken away.",
  },
  IDENTITY_ISSUER_URL: {
    type: url(["https", "http"]),
    fallback: fixed(undefined),
    meaning: "Existing OpenID Connect issuer used instead of the deployed identity service.",
  },
  IDENTITY_ADMIN_ROLE: {
    type: text({ pattern: /^[\w.:/-]{1,255}$/, allowed: "the name of a role or group: letters, digits and . _ : / -" }),
    fallback: fixed("admin"),
    meaning:
      "Role at IDENTITY_ISSUER_URL whose holders administer the platform. A user name makes nobody an administrator there.",
  },
  IDENTITY_ROLES_CLAIM: {
    type: text({ pattern: /^[\w.:/-]{1,255}$/, allowed: "the name of a claim; dots reach into objects" }),
    fallback: fixed(undefined),
    meaning:
      "Claim of the tokens of IDENTITY_ISSUER_URL with a list of roles or groups, read besides realm_access.roles: groups, roles.",
  },
  IDENTITY_CLIENT_REGISTRATION: {
    type: choice(["off", "operators", "open"]),
    fallback: fixed("off"),
    meaning:
      "Who registers OpenID Connect clients below an address of a realm (RFC 7591): nobody, operators alone, or everybody, where people must then agree to a login with them.",
  },
  IDENTITY_CLIENT_ALLOW_PRIVATE: {
    type: hosts,
    fallback: fixed(undefined),
    meaning:
      "Private hosts and networks, besides the deployment's own hosts, at which the identity service reads keys of clients and tells them of logouts: whoever may register a client can then have requests sent there.",
  },
  LOGIN_SERVICE_ADMIN_PASSWORD: {
    type: secret(),
    variants: ["B"],
    fallback: defaultSecret("LOGIN_SERVICE_ADMIN_PASSWORD"),
    meaning: "First password of the login service's user admin.",
  },
  LOGIN_PROVIDER: {
    type: text({ pattern: /^[a-z0-9][a-z0-9-]{0,62}$/, allowed: "one path segment: a-z, digits and -" }),
    variants: ["B"],
    fallback: fixed("oxauth"),
    meaning: "First path segment of the login service's endpoints: /<provider>/restv1/token.",
  },
  LOGIN_SERVICE_REGISTRATION: {
    type: choice(["open", "operators"]),
    variants: ["B"],
    fallback: fixed("operators"),
    meaning:
      "Who registers clients at the login service: operators alone, with an access token, or everybody (open): 20 an hour from one address, and people must then agree to a login with them, in a browser.",
  },
  PDP_DECISIONS: {
    type: choice(["callers", "open"]),
    variants: ["B"],
    fallback: fixed("callers"),
    meaning:
      "Whom the decision point tells its decisions: callers with a token or a client's secret, or all callers (open), as clients of the earlier release line expect: 6,000 a minute for one address.",
  },
  SMTP_URL: {
    type: secretUrl(["smtp", "smtps"]),
    variants: ["B"],
    fallback: fixed(undefined),
    meaning:
      "Mail server that the user profile sends by: smtp[s]://[user:password@]host[:port]. Without one, messages are kept and shown to operators at /web_ui/outbox of the login service.",
  },
  SMTP_FROM: {
    type: text({ pattern: /^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}$/, allowed: "an e-mail address" }),
    variants: ["B"],
    fallback: derived("no-reply@<domain>", ({ domain }) => `no-reply@${domain()}`),
    meaning: "Sender of these messages.",
  },
} satisfies VariableGroup;
