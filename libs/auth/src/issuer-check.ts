import { readyOnce } from "@swath/service";

import type { Issuer } from "./issuer.ts";

const NOT_THERE = new Set(["ENOENT", "ECONNREFUSED"]);

/** Readiness of a service whose users cannot log in before its issuer was discovered; ready at once without an issuer. */
export function createIssuerCheck(issuer: Pick<Issuer, "url" | "metadata"> | undefined): () => Promise<void> {
  return issuer === undefined
    ? () => Promise.resolve()
    : readyOnce(async () => {
        try {
          await issuer.metadata();
        } catch (error) {
          throw new Error(describe(issuer.url, error), { cause: error });
        }
      });
}

/** An identity service that is not there yet is what every deployment begins with; the address of its socket tells a reader nothing. */
function describe(issuer: string, error: unknown): string {
  const { message, cause } = error as { readonly message?: string; readonly cause?: { readonly code?: string } };
  return NOT_THERE.has(cause?.code ?? "")
    ? `waiting for the identity service, ${issuer}`
    : `logins do not work yet: ${message ?? String(error)}`;
}
