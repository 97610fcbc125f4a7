import { CLOUD_PLACEHOLDER } from "@swath/manifest";

import { derived, fixed, sameAs, type VariableGroup } from "../define.ts";
import { boolean, choice, hosts, integer, text } from "../value-types.ts";

const imageReference = text({
  pattern: /^[a-z0-9][\w.:/@-]{0,511}$/,
  allowed: "an image reference like registry.example.org/swath:1.0",
});

/** Which components the platform has. */
export const componentVariables = {
  REQUIRE_STORAGE: {
    type: boolean,
    fallback: fixed(true),
    meaning: "Create the persistent volumes that several components share.",
  },
  REQUIRE_DUMMY_SERVICE: {
    type: boolean,
    fallback: fixed(false),
    meaning: "Deploy the debugging service, which answers every request with what it received.",
  },
  REQUIRE_IDENTITY_SERVICE: {
    type: boolean,
    variants: ["A"],
    fallback: derived(
      "true, or false where IDENTITY_ISSUER_URL names an existing one",
      ({ get }) => get("IDENTITY_ISSUER_URL") === undefined,
    ),
    meaning: "Deploy the identity service: realms, users, clients, tokens.",
  },
  REQUIRE_LOGIN_SERVICE: {
    type: boolean,
    variants: ["B"],
    fallback: derived(
      "true, or false where IDENTITY_ISSUER_URL names an existing one",
      ({ get }) => get("IDENTITY_ISSUER_URL") === undefined,
    ),
    meaning: "Deploy the login service.",
  },
  REQUIRE_PDP: {
    type: boolean,
    variants: ["B"],
    fallback: fixed(true),
    meaning: "Deploy the policy decision service.",
  },
  REQUIRE_USER_PROFILE: {
    type: boolean,
    variants: ["B"],
    fallback: fixed(true),
    meaning: "Deploy the user profile service.",
  },
  REQUIRE_ADES: { type: boolean, fallback: fixed(true), meaning: "Deploy the processing service." },
  REQUIRE_RESOURCE_CATALOGUE: { type: boolean, fallback: fixed(true), meaning: "Deploy the resource catalogue." },
  REQUIRE_DATA_ACCESS: { type: boolean, fallback: fixed(true), meaning: "Deploy the data access service." },
  REQUIRE_REGISTRATION_API: {
    type: boolean,
    variants: ["A"],
    worksInBoth: true,
    fallback: derived("true (variant A), false (variant B)", ({ variant }) => variant === "A"),
    meaning:
      "Offer the registration API, with a host of its own. What workspaces, jobs and harvesters register is carried out without it, too.",
  },
  REQUIRE_WORKSPACE_API: { type: boolean, fallback: fixed(true), meaning: "Deploy the workspace API." },
  REQUIRE_BUCKET_OPERATOR: {
    type: boolean,
    variants: ["B"],
    fallback: derived(
      "true where REQUIRE_WORKSPACE_API is true or CLOUD_DOMAINNAME names a cloud",
      ({ get }) => get("REQUIRE_WORKSPACE_API") || get("CLOUD_DOMAINNAME") !== CLOUD_PLACEHOLDER,
    ),
    meaning: "Deploy the bucket operator, which makes the buckets of workspaces.",
  },
  REQUIRE_OBJSTORE: {
    type: boolean,
    fallback: derived(
      "true where REQUIRE_WORKSPACE_API or REQUIRE_DATA_ACCESS is true or STAGEOUT_TARGET is objstore; false where OBJSTORE_ENDPOINT names an existing one",
      ({ get }) =>
        get("OBJSTORE_ENDPOINT") === undefined &&
        (get("REQUIRE_WORKSPACE_API") || get("REQUIRE_DATA_ACCESS") || get("STAGEOUT_TARGET") === "objstore"),
    ),
    meaning:
      "Deploy the object storage and its console. Nothing asks for it while no enabled component keeps data there, which is what a documented default of false means.",
    aliases: ["REQUIRE_MINIO"],
  },
  REQUIRE_REGISTRY: {
    type: boolean,
    fallback: derived(
      "value of REQUIRE_WORKSPACE_API; false where REGISTRY_URL names an existing one",
      ({ get }) => get("REGISTRY_URL") === undefined && get("REQUIRE_WORKSPACE_API"),
    ),
    meaning: "Deploy the container image registry.",
    aliases: ["REQUIRE_HARBOR"],
  },
  REQUIRE_PORTAL: {
    type: boolean,
    fallback: derived(
      "value of REQUIRE_IDENTITY_SERVICE (variant A, true too with IDENTITY_ISSUER_URL); true (variant B)",
      ({ get, variant }) =>
        variant === "B" || get("REQUIRE_IDENTITY_SERVICE") || get("IDENTITY_ISSUER_URL") !== undefined,
    ),
    meaning: "Deploy the browser portal.",
  },
  REQUIRE_APPLICATION_HUB: {
    type: boolean,
    variants: ["A"],
    fallback: fixed(true),
    meaning: "Deploy the application hub.",
  },
  REQUIRE_PDE: {
    type: boolean,
    variants: ["B"],
    fallback: fixed(true),
    meaning: "Deploy the processor development environment.",
  },
  INSTALL_GITOPS: {
    type: boolean,
    fallback: sameAs("REQUIRE_WORKSPACE_API"),
    meaning:
      "Install the continuous-delivery component that the workspace API depends on. It has no effect here: workspaces are made by the reconciler that the workspace API brings, which needs no other component.",
    aliases: ["INSTALL_FLUX"],
  },
  WORKSPACE_CREATION: {
    type: choice(["operators", "self-service"]),
    fallback: fixed("operators"),
    meaning:
      "Who creates workspaces: operators for anybody, or everybody for themselves as well, named after themselves or by the service.",
  },
  WORKSPACE_LIMIT_PER_USER: {
    type: integer(1, 1000),
    fallback: fixed(1),
    meaning: "How many workspaces a user may own who creates them by self-service. Operators are not held by it.",
  },
  REGISTRATION_ALLOW_PRIVATE: {
    type: hosts,
    fallback: fixed(undefined),
    meaning:
      "Private hosts and networks that data are registered and harvested from, such as the intranet's catalogue: whoever may register can then have documents there read. Without it none may.",
  },
  SWATH_IMAGE: {
    type: imageReference,
    fallback: fixed("swath:0.1.0"),
    meaning: "Container image that holds every service, for Kubernetes. The embedded cluster needs no image.",
  },
  POSTGRES_IMAGE: {
    type: imageReference,
    fallback: fixed(undefined),
    meaning:
      "Container image of PostgreSQL, for Kubernetes. Without it PostgreSQL starts in SWATH_IMAGE, and an apply to a cluster leaves it in the image that it runs in until a release brings another version of it.",
  },
  SERVICE_REPLICAS: {
    type: integer(1, 20),
    fallback: fixed(1),
    meaning:
      "Pods of each service that keeps no data of its own, on Kubernetes. From 2 on, a disruption budget keeps one of them running while nodes are emptied.",
  },
  SERVICE_REPLICAS_MAX: {
    type: integer(2, 100),
    fallback: fixed(undefined),
    meaning:
      "With a value above SERVICE_REPLICAS each service that keeps no data of its own gets a HorizontalPodAutoscaler, which runs SERVICE_REPLICAS pods and up to this many while they use more than 0.7 of a core each. The cluster needs metrics-server. Kubernetes only.",
  },
  PROCESSING_ZOO_IMAGE: {
    type: imageReference,
    variants: ["A"],
    worksInBoth: true,
    fallback: sameAs("SWATH_IMAGE"),
    meaning: "Container image of the processing service, for Kubernetes. The embedded cluster needs no image.",
  },
} satisfies VariableGroup;
