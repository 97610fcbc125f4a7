import type { AcceptedRequest } from "../clients/registration.ts";
import { WorkspaceError } from "../errors.ts";
import type { ApiContext } from "./context.ts";
import type { BucketOutputs } from "../steps/bucket.ts";
import { listSteps } from "../store/steps.ts";

interface Registration {
  readonly workspace: string;
  readonly requestedBy?: string;
  /** As the registration API takes it. */
  readonly request: object;
  readonly idempotencyKey?: string;
  readonly provenance?: object;
  readonly wait?: number;
}

/**
 * Has a request carried out.
 * @returns what its sender is told, and what came of it where that was waited for
 * @throws {WorkspaceError} 501 where nothing in the deployment would take it
 */
export async function registerIn(
  { db, registration: client }: Pick<ApiContext, "db" | "registration">,
  { workspace, requestedBy, request, idempotencyKey, provenance, wait }: Registration,
): Promise<AcceptedRequest> {
  if (client === undefined) {
    throw new WorkspaceError(
      501,
      "This deployment has no resource catalogue, so nothing can be registered or taken out. Its operator can deploy it with REQUIRE_RESOURCE_CATALOGUE=true.",
    );
  }
  const steps = await listSteps(db, workspace);
  const bucket = steps.find(({ name }) => name === "bucket")?.outputs as BucketOutputs | null | undefined;
  return client.send({
    scope: workspace,
    ...(requestedBy !== undefined && { requestedBy }),
    buckets: bucket ? [bucket.bucketname] : [],
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(provenance !== undefined && { provenance }),
    ...(wait !== undefined && { wait }),
    request,
  });
}
