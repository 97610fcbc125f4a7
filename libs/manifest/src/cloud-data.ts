import type { PlatformSettings } from "./settings.ts";
import type { EnvValue } from "./values.ts";

/** Settings of services that read a cloud provider's data offering: its object storage, where it is part of the deployment. */
export function cloudDataStorageEnv({ variables }: PlatformSettings): Readonly<Record<string, EnvValue>> {
  return variables.CLOUDDATA_DATA_SPECIFICATION
    ? {
        CLOUDDATA_S3_ENDPOINT: variables.CLOUDDATA_S3_ENDPOINT,
        CLOUDDATA_S3_REGION: variables.CLOUDDATA_S3_REGION,
        CLOUDDATA_S3_ACCESS_KEY: variables.CLOUDDATA_S3_ACCESS_KEY,
        CLOUDDATA_S3_SECRET_KEY: variables.CLOUDDATA_S3_SECRET_KEY ?? "test",
      }
    : {};
}
