import type { Variant } from "./component.ts";
import type { PortalValues } from "./portal-values.ts";
import type { PlatformSecret, VolumeAccess } from "./values.ts";

/** Everything a manifest may know about the deployment: the resolved variables and the command-line arguments. */
export interface PlatformSettings {
  readonly variant: Variant;
  readonly clusterName: string;
  /** Stem of all host names. */
  readonly domain: string;
  readonly publicIp: string;
  readonly scheme: "http" | "https";
  /** Port people reach the scheme on; left out of URLs when it is the scheme's own. */
  readonly publicPort: number;
  readonly variables: Variables;
  /** What the file PORTAL_VALUES says; left out without one. */
  readonly portalValues?: PortalValues;
  /** The whole configuration as people may see it. */
  readonly shown?: readonly ShownSetting[];
}

/** One line of the configuration, ready to show: secrets are masked. */
export interface ShownSetting {
  readonly name: string;
  readonly group: string;
  readonly value: string | number | boolean | null;
  readonly secret: boolean;
  /** Where the value comes from, in words. */
  readonly origin: string;
}

/** Resolved values of the operator's variables, by their names. cli/config/variables holds meaning, default and aliases of each. */
export interface Variables {
  readonly PLATFORM_VARIANT: Variant;
  readonly REQUIRE_LOCALCLUSTER: boolean;
  readonly REQUIRE_INGRESS_CONTROLLER: boolean;
  readonly REQUIRE_CERTIFICATE_MANAGER: boolean;
  readonly REQUIRE_ACME_ISSUERS: boolean;
  readonly REQUIRE_SEALED_SECRETS: boolean;
  readonly REQUIRE_OBJSTORE: boolean;

  readonly REQUIRE_STORAGE: boolean;
  readonly REQUIRE_DUMMY_SERVICE: boolean;
  readonly REQUIRE_IDENTITY_SERVICE: boolean;
  readonly REQUIRE_LOGIN_SERVICE: boolean;
  readonly REQUIRE_PDP: boolean;
  readonly REQUIRE_USER_PROFILE: boolean;
  readonly REQUIRE_ADES: boolean;
  readonly REQUIRE_RESOURCE_CATALOGUE: boolean;
  readonly REQUIRE_DATA_ACCESS: boolean;
  readonly REQUIRE_REGISTRATION_API: boolean;
  readonly REQUIRE_WORKSPACE_API: boolean;
  readonly REQUIRE_BUCKET_OPERATOR: boolean;
  readonly REQUIRE_REGISTRY: boolean;
  readonly REQUIRE_PORTAL: boolean;
  readonly REQUIRE_APPLICATION_HUB: boolean;
  readonly REQUIRE_PDE: boolean;

  readonly REQUIRE_DUMMY_SERVICE_PROTECTION: boolean;
  readonly REQUIRE_ADES_PROTECTION: boolean;
  readonly REQUIRE_RESOURCE_CATALOGUE_PROTECTION: boolean;
  readonly REQUIRE_DATA_ACCESS_PROTECTION: boolean;
  readonly REGISTRATION_API_PROTECTION: boolean;
  readonly REQUIRE_WORKSPACE_API_PROTECTION: boolean;

  readonly LOCALCLUSTER_TOOL: "embedded" | "minikube";
  readonly LOCALCLUSTER_VERSION: string;
  readonly LOCALCLUSTER_ORCH_VERSION: string;
  readonly LOCALCLUSTER_CPU_AMOUNT: string;
  readonly LOCALCLUSTER_MEMORY_AMOUNT: string;
  readonly LOCALCLUSTER_DISK_AMOUNT: string;
  readonly LOCALCLUSTER_EXTRA_OPTIONS: string;
  readonly USE_LOADBALANCER_ADDON: boolean;
  readonly USE_INGRESS_CONTROLLER_HELM: boolean;
  readonly USE_INGRESS_CONTROLLER_LOADBALANCER: boolean;
  readonly OPEN_INGRESS: boolean;
  readonly USE_TLS: boolean;
  /** Addresses and networks, separated by commas. */
  readonly TRUSTED_PROXIES: string | undefined;
  readonly USE_HTTP2: boolean;
  readonly TLS_CLUSTER_ISSUER: string;
  readonly ACME_DIRECTORY_URL: string | undefined;
  readonly ACME_EMAIL: string | undefined;
  /** Path of a PEM file. */
  readonly ACME_CA_FILE: string | undefined;
  readonly ACME_EAB_KID: string | undefined;
  readonly ACME_EAB_HMAC_KEY: PlatformSecret | undefined;
  readonly ACME_CHALLENGE: "http-01" | "dns-01";
  /** Address or name, with a port where it is not 53. */
  readonly ACME_DNS_SERVER: string | undefined;
  readonly ACME_DNS_ZONE: string | undefined;
  readonly ACME_DNS_KEY_NAME: string | undefined;
  readonly ACME_DNS_KEY_ALGORITHM: "hmac-sha256" | "hmac-sha384" | "hmac-sha512";
  readonly ACME_DNS_KEY_SECRET: PlatformSecret | undefined;
  /** Seconds. */
  readonly ACME_DNS_PROPAGATION: number;
  /** Path of a program. */
  readonly ACME_DNS_HOOK: string | undefined;
  readonly WILDCARD_DNS_SUFFIX: string;
  /** Domain of hosts that hold user content; undefined: that of the platform. */
  readonly USER_CONTENT_DOMAIN: string | undefined;

  readonly IDENTITY_SERVICE_DEFAULT_SECRET: PlatformSecret;
  readonly IDENTITY_SERVICE_TEST_USERS: boolean;
  readonly IDENTITY_SERVICE_ADMIN_USER: string;
  readonly IDENTITY_SERVICE_ADMIN_PASSWORD: PlatformSecret;
  readonly IDENTITY_SERVICE_ADMIN_CLIENT: string;
  readonly IDENTITY_POSTGRES_PASSWORD: PlatformSecret;
  readonly IDENTITY_GATEKEEPER_CLIENT_SECRET: PlatformSecret;
  readonly IDENTITY_GATEKEEPER_ENCRYPTION_KEY: PlatformSecret;
  readonly IDENTITY_GATEKEEPER_UMA: boolean;
  readonly WORKSPACE_CREATION: "operators" | "self-service";
  readonly WORKSPACE_LIMIT_PER_USER: number;

  readonly IDENTITY_REALM: string;
  /** Separated by commas. */
  readonly IDENTITY_ACCEPTED_AUDIENCES: string;
  /** Existing OIDC issuer used instead of the deployed identity service. */
  readonly IDENTITY_ISSUER_URL: string | undefined;
  readonly IDENTITY_ADMIN_ROLE: string;
  readonly IDENTITY_ROLES_CLAIM: string | undefined;
  readonly IDENTITY_CLIENT_REGISTRATION: "off" | "operators" | "open";
  /** Separated by commas. */
  readonly IDENTITY_CLIENT_ALLOW_PRIVATE: string | undefined;
  readonly LOGIN_PROVIDER: string;
  readonly LOGIN_SERVICE_REGISTRATION: "open" | "operators";
  readonly PDP_DECISIONS: "callers" | "open";
  readonly LOGIN_SERVICE_ADMIN_PASSWORD: PlatformSecret;
  /** Mail server of the user profile. */
  readonly SMTP_URL: PlatformSecret | undefined;
  readonly SMTP_FROM: string | undefined;

  readonly OBJSTORE_ROOT_USER: string;
  readonly OBJSTORE_ROOT_PASSWORD: PlatformSecret;
  /** Existing S3 endpoint used instead of the deployed object store, with OBJSTORE_ROOT_USER/PASSWORD as its keys. */
  readonly OBJSTORE_ENDPOINT: string | undefined;
  /** IAM API of that S3 endpoint. */
  readonly OBJSTORE_IAM_ENDPOINT: string | undefined;
  readonly OBJSTORE_REGION: string;
  /** Separated by commas; the first encrypts. */
  readonly OBJSTORE_ENCRYPTION_KEYS: PlatformSecret;
  readonly OBJSTORE_DEFAULT_OWNERSHIP: "BucketOwnerEnforced" | "BucketOwnerPreferred" | "ObjectWriter";
  readonly OBJSTORE_SIGNATURE_V2: boolean;
  /** `<period>=<how many are kept>`, separated by commas. */
  readonly OBJSTORE_SNAPSHOTS: string | undefined;
  /** `<name>=<URL>`, separated by commas. */
  readonly OBJSTORE_EVENT_TARGETS: PlatformSecret | undefined;
  readonly REGISTRY_ADMIN_PASSWORD: PlatformSecret;
  /** Existing image registry used instead of the deployed one. */
  readonly REGISTRY_URL: string | undefined;
  /** Where the deployed image registry keeps content. */
  readonly REGISTRY_CONTENT: "objstore" | "volume";
  readonly REGISTRY_BUCKET: string;
  readonly REGISTRY_REDIRECT: boolean;
  /** Existing PostgreSQL used instead of the deployed one. */
  readonly DATABASE_URL: PlatformSecret | undefined;
  /** Whether each component has a role of its own in that one. */
  readonly DATABASE_ROLES: "own" | "shared";

  readonly INGRESS_CLASS: string;
  readonly IMAGE_PULL_SECRETS: string | undefined;
  readonly POD_NODE_SELECTOR: string | undefined;
  readonly POD_TOLERATIONS: string | undefined;
  readonly POD_PRIORITY_CLASS: string | undefined;
  readonly METRICS_NAMESPACE: string | undefined;
  readonly SERVICE_MONITORS: boolean;

  readonly DEFAULT_STORAGE: string;
  readonly POSTGRES_STORAGE: string;
  readonly POSTGRES_STORAGE_SIZE: string;
  readonly POSTGRES_STORAGE_ACCESS: VolumeAccess;
  readonly POSTGRES_SHARED_BUFFERS: string;
  readonly OBJSTORE_STORAGE: string;
  readonly OBJSTORE_STORAGE_SIZE: string;
  readonly OBJSTORE_STORAGE_ACCESS: VolumeAccess;
  readonly ADES_STORAGE: string;
  readonly ADES_STORAGE_SIZE: string;
  readonly ADES_STORAGE_ACCESS: "ReadWriteOnce" | "ReadWriteMany";
  readonly APPLICATION_HUB_STORAGE: string;
  readonly DATA_ACCESS_STORAGE: string;
  readonly REGISTRY_STORAGE: string;
  readonly RESOURCE_CATALOGUE_STORAGE: string;
  readonly PDE_STORAGE: string;

  readonly PROCESSING_MAX_RAM: string;
  readonly PROCESSING_MAX_CORES: number;
  readonly PROCESSING_ZOO_IMAGE: string;
  readonly PROCESSING_PULL_SECRETS: string | undefined;
  /** Where pods of jobs run: labels of nodes, taints, a priority class; a LocalQueue of Kueue. */
  readonly PROCESSING_NODE_SELECTOR: string | undefined;
  readonly PROCESSING_TOLERATIONS: string | undefined;
  readonly PROCESSING_PRIORITY_CLASS: string | undefined;
  readonly PROCESSING_QUEUE: string | undefined;
  readonly PROCESSING_STEP_FILES: "volume" | "object-store";
  readonly PROCESSING_NODE_CACHE: string;
  /** Of the bucket with files of steps, in an object storage of the operator's. */
  readonly PROCESSING_STEP_ACCESS_KEY: string | undefined;
  readonly PROCESSING_STEP_SECRET_KEY: PlatformSecret | undefined;
  /** Host names, addresses and networks, separated by commas. */
  readonly PROCESSING_ALLOW_PRIVATE: string | undefined;
  readonly REGISTRATION_ALLOW_PRIVATE: string | undefined;
  readonly PROCESSING_JOB_RETENTION_DAYS: number;
  readonly PROCESSING_HOST_TOOLS: string;
  readonly PROCESSING_HOST_TOOLS_EXPOSED: boolean;
  readonly PROCESSING_TOOL_NETWORK: string;
  readonly PROCESSING_MAX_DISK: string;
  readonly PROCESSING_MAX_PROCESSES: number;
  readonly PROCESSING_MAX_OPEN_FILES: number;
  readonly PROCESSING_MAX_TIME: number;
  readonly PROCESSING_PARALLEL_JOBS: number | undefined;
  readonly PROCESSING_USER_JOBS: number | undefined;
  readonly PROCESSING_USER_QUEUE: number | undefined;
  readonly PROCESSING_RESULT_RETENTION: string;
  readonly STAGEOUT_TARGET: "workspace" | "objstore";
  /** auto, none, podman, docker, or the path of one. */
  readonly CONTAINER_ENGINE: string;
  /** Credentials of image registries on the machine of the embedded cluster. */
  readonly CONTAINER_AUTH_FILE: string | undefined;
  readonly INSTALL_GITOPS: boolean;
  readonly CLOUDDATA_DATA_SPECIFICATION: boolean;
  readonly CLOUDDATA_CATALOGUE_URL: string;
  readonly CLOUDDATA_CATALOGUE_TYPE: "OpenSearch" | "STACAPI";
  /** west,south,east,north */
  readonly CLOUDDATA_AREA: string;
  /** begin/end; the end may be `..` */
  readonly CLOUDDATA_TIME: string;
  readonly CLOUDDATA_SCHEDULE: string;
  readonly CLOUDDATA_S3_ENDPOINT: string;
  readonly CLOUDDATA_S3_REGION: string;
  readonly CLOUDDATA_S3_ACCESS_KEY: string;
  readonly CLOUDDATA_S3_SECRET_KEY: PlatformSecret | undefined;
  readonly TEMP_FORWARDING_PORT: number;
  readonly PORTAL_VALUES: string | undefined;
  readonly DATA_ACCESS_EXTERNAL_ITEMS: boolean;
  readonly BASE_MAPS: string | undefined;
  readonly SWATH_IMAGE: string;
  readonly POSTGRES_IMAGE: string | undefined;
  readonly SERVICE_REPLICAS: number;
  readonly SERVICE_REPLICAS_MAX: number | undefined;
  /** `namespace/name`. */
  readonly GATEWAY: string | undefined;
  readonly INGRESS_NAMESPACE: string | undefined;
  /** Separated by commas. */
  readonly BUCKET_SECRET_NAMESPACES: string | undefined;

  /** Keystone v3. */
  readonly CLOUD_IDENTITY_URL: string;
  readonly CLOUD_S3_URL: string;
  readonly CLOUD_DOMAINNAME: string;
  readonly CLOUD_USERNAME: string;
  readonly CLOUD_PASSWORD: PlatformSecret | undefined;
  readonly CLOUD_MEMBERROLEID: string | undefined;
  readonly CLOUD_SERVICEPROJECTID: string | undefined;
  readonly USER_EMAIL_PATTERN: string;
}
