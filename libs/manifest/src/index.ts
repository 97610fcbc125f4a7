export { baseMapsOf } from "./base-maps.ts";
export { CLOUD_PLACEHOLDER, usesCloud } from "./cloud.ts";
export {
  acceptedTokensEnv,
  administratorAudience,
  administratorEnv,
  identityAdminPassword,
  identityHostLabel,
  identityIssuer,
  identityIssuerEnv,
  identityUrl,
  issuerAt,
} from "./identity-service.ts";
export { adminRealmPath, realmPath, serverOfIssuer } from "./realm-paths.ts";
export { isWorkspaceName, workspacePrefix } from "./workspace-prefix.ts";
export { cloudDataStorageEnv } from "./cloud-data.ts";
export { isHostName } from "./host-name.ts";
export { objectStorageEnv } from "./object-storage.ts";
export { parseQuantity, toBytes } from "./quantity.ts";
export type {
  Component,
  ComponentDeclarations,
  ComponentResources,
  DatabaseRole,
  DeployContext,
  Variant,
} from "./component.ts";
export type {
  ConfigMap,
  EnvValue,
  PlatformSecret,
  SecretEntry,
  Secret,
  Volume,
  VolumeAccess,
  VolumeBackup,
} from "./values.ts";
export type {
  ClusterRole,
  OwnNamespaces,
  SecretsInNamespaces,
  PolicyRule,
  Mount,
  PodNetwork,
  Port,
  Probe,
  Resources,
  Workload,
} from "./workload.ts";
export type { IdentityClient, ProtectedResource, Protection, Route } from "./routes.ts";
export { type TestUser, listDeclaredUsers, listTestUsers } from "./test-users.ts";
export type { PlatformSettings, ShownSetting, Variables } from "./settings.ts";
export {
  type IngressTls,
  PORTAL_CONFIG_KEYS,
  type PortalConfig,
  type PortalConfigKey,
  type PortalIngress,
  type PortalValues,
} from "./portal-values.ts";
