import type { DeployContext } from "./component.ts";
import type { EnvValue } from "./values.ts";

/** Where a service reads files: the deployed object storage, or an existing one. */
export function objectStorageEnv({
  settings: { variables },
  isEnabled,
  publicUrl,
}: Pick<DeployContext, "settings" | "isEnabled" | "publicUrl">): Record<string, EnvValue> {
  const { OBJSTORE_ENDPOINT: endpoint } = variables;
  const keys = {
    OBJSTORE_ROOT_USER: variables.OBJSTORE_ROOT_USER,
    OBJSTORE_ROOT_PASSWORD: variables.OBJSTORE_ROOT_PASSWORD,
    S3_REGION: variables.OBJSTORE_REGION,
  };
  return isEnabled("objstore")
    ? { OBJSTORE_URL: { peer: "objstore" }, OBJSTORE_PUBLIC_URL: publicUrl("objstore"), ...keys }
    : endpoint === undefined
      ? {}
      : { OBJSTORE_URL: endpoint, OBJSTORE_PUBLIC_URL: endpoint, ...keys };
}
