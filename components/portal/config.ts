import { administratorSettings } from "@swath/auth/settings";
import { defineSettings } from "@swath/service";
import { BASE_MAP_FORM } from "@swath/service/base-maps";

const address = (what: string) => ({ kind: "url", optional: true, description: `Public address of ${what}.` }) as const;

export const settings = defineSettings({
  PUBLIC_URL: { kind: "url", description: "Public address of the portal itself." },
  PLATFORM_NAME: { kind: "string", default: "swath", description: "Name of the deployment, shown to people." },

  // The keys of the ConfigMap, in capitals.
  IDENTITY_URL: address("the identity service"),
  REALM: { kind: "string", default: "master", description: "Realm people log in to." },
  CLIENT_ID: { kind: "string", default: "swath-portal", description: "Public client that people log in with." },
  IDENTITY_API_URL: address("the identity API"),
  ADES_URL: address("the processing API, ending in /ogc-api/processes"),
  RESOURCE_CATALOGUE_URL: address("the resource catalogue"),
  DATA_ACCESS_URL: address("the data access service"),
  WORKSPACE_URL: address("the workspace API"),
  WORKSPACE_DOCS_URL: address("the workspace API's documentation page"),
  IMAGES_REGISTRY_URL: address("the image registry"),
  DUMMY_SERVICE_URL: address("the dummy service"),
  BASE_MAPS: {
    kind: "string",
    default: "",
    description: `Base maps of other hosts that people may choose: ${BASE_MAP_FORM}.`,
  },
  ACCESS_TOKEN_NAME: { kind: "string", default: "auth_user_id", description: "Cookie that holds the access token." },
  ACCESS_TOKEN_DOMAIN: { kind: "string", description: "Domain of that cookie: .<domain>." },
  REFRESH_TOKEN_NAME: {
    kind: "string",
    default: "auth_refresh_token",
    description: "Cookie that holds the refresh token.",
  },
  REFRESH_TOKEN_DOMAIN: { kind: "string", description: "Domain of that cookie: .<domain>." },

  IDENTITY_ISSUER: {
    kind: "url",
    optional: true,
    description: "Issuer of the tokens, as their claim iss has it. Without it nobody can log in.",
  },
  ACCEPTED_AUDIENCES: {
    kind: "string",
    default: "swath-platform",
    description: "Audiences that access tokens may have besides this service's own, separated by commas.",
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
    description: "Peer address of the issuer where the deployment brings it.",
  },
  ...administratorSettings,
  DATABASE_URL: {
    kind: "string",
    optional: true,
    secret: true,
    description: "Database of the deployment, whose audit trail administrators may search.",
  },
  WORKSPACE_CREATION: {
    kind: "string",
    oneOf: ["operators", "self-service"],
    default: "operators",
    description: "Who creates workspaces, as the workspace API has it: what a user may not do is not offered.",
  },
  PORTAL_SERVICES: {
    kind: "string",
    default: "[]",
    description:
      "JSON list of services: { id, url, host, upstream, health }, where upstream and health name environment variables with peer addresses.",
  },
  S3_ENDPOINT: {
    kind: "string",
    optional: true,
    description: "Peer address of the object storage that workspaces are in. Without it there is no file browser.",
  },
  PLATFORM_CONFIGURATION: {
    kind: "string",
    default: "[]",
    description: "JSON list of the deployment's settings, secrets masked, for administrators.",
  },
  PLATFORM_STATUS: {
    kind: "string",
    optional: true,
    description:
      "Where to ask for pods and logs: a peer address, or the word kubernetes for the cluster's API with the pod's own account.",
  },
  KUBERNETES_SERVICE_HOST: { kind: "string", optional: true, description: "Set by Kubernetes in every pod." },
  KUBERNETES_SERVICE_PORT: { kind: "integer", default: 443, description: "Set by Kubernetes in every pod." },
  WEB_ROOT: {
    kind: "string",
    optional: true,
    description: "Folder of the built pages; the component's own when left out.",
  },
});
