import type { PlatformSettings } from "./settings.ts";

/** What CLOUD_DOMAINNAME says where nobody named a cloud; option files of the earlier release line hold it. */
export const CLOUD_PLACEHOLDER = "cloud_XXXXX";

/** Whether the bucket operator makes buckets in an infrastructure cloud. */
export function usesCloud({ variant, variables }: Pick<PlatformSettings, "variant" | "variables">): boolean {
  return variant === "B" && variables.REQUIRE_BUCKET_OPERATOR && variables.CLOUD_DOMAINNAME !== CLOUD_PLACEHOLDER;
}
