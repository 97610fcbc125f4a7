import { readyOnce } from "@swath/service";

import type { Issuer } from "./issuer.ts";

const NOT_THERE = new Set(["ENOENT", "ECONNREFUSED"]);

/** Readiness of a service whose users cannot log in before its issuer was discovered; ready at once without an issuer. */
export function createIssuerCheck(
  issuer: Pick<Issuer, "url" | "metadata" | "isExternal"> | undefined,
): () => Promise<void> {
  return issuer === undefined
    ? () => Promise.resolve()
    : readyOnce(async () => {
        try {
          await issuer.metadata();
        } catch (error) {
          throw new Error(describe(issuer, error), { cause: error });
        }
      });
}

/** An identity service that is not there yet is what every deployment begins with; the address of its socket tells a reader nothing. */
function describe({ url, isExternal }: Pick<Issuer, "url" | "isExternal">, error: unknown): string {
  const { message, cause } = error as { readonly message?: string; readonly cause?: { readonly code?: string } };
  if (isExternal === true) {
    return `logins do not work yet: ${message ?? String(error)}; check IDENTITY_ISSUER_URL`;
  }
  return NOT_THERE.has(cause?.code ?? "")
    ? `waiting for the identity service, ${url}`
    : `logins do not work yet: ${message ?? String(error)}`;
}
