import { readyOnce } from "@swath/service";

import type { Issuer } from "./issuer.ts";

/** Readiness of a service that nobody can log in to before its issuer was discovered; ready at once without an issuer. */
export function createIssuerCheck(issuer: Pick<Issuer, "url" | "metadata"> | undefined): () => Promise<void> {
  return issuer === undefined
    ? () => Promise.resolve()
    : readyOnce(async () => {
        try {
          await issuer.metadata();
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          throw new Error(`nobody can log in yet: ${reason}`, { cause: error });
        }
      });
}
