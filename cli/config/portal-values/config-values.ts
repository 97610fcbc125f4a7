import type { PortalConfigKey } from "@swath/manifest";

import { baseMaps } from "../value-types.ts";

/** What is wrong with a value of `configMap`, if anything. */
export function checkConfigValue(
  key: PortalConfigKey,
  value: string,
  domain: string,
): { readonly problem: string; readonly allowed: string } | undefined {
  if (key.endsWith("_url")) {
    return isAddress(value) ? undefined : { problem: "is not an address", allowed: "http:// or https:// and a host" };
  }
  if (key === "base_maps") {
    const parsed = baseMaps.parse(value);
    return "problem" in parsed ? { problem: parsed.problem, allowed: baseMaps.allowed } : undefined;
  }
  if (key === "access_token_domain" || key === "refresh_token_domain") {
    // Any other domain would keep logins from the services, or give them to hosts that are not of the deployment.
    return value === `.${domain}` ? undefined : { problem: "is not the deployment's domain", allowed: `.${domain}` };
  }
  if (key === "access_token_name" || key === "refresh_token_name") {
    return /^[A-Za-z0-9_-]{1,64}$/.test(value)
      ? undefined
      : { problem: "is not the name of a cookie", allowed: "letters, digits, - and _" };
  }
  return /^[^\s/?#\\]{1,255}$/.test(value)
    ? undefined
    : { problem: "is not a name", allowed: "a name without spaces and slashes" };
}

function isAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s\\]+$/.test(text) || !URL.canParse(text)) {
    return false;
  }
  const { username, password } = new URL(text);
  return username === "" && password === "";
}
