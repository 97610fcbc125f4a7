import type { AcceptedRequest } from "../clients/registration.ts";
import type { ApiContext } from "./context.ts";
import type { BucketOutputs } from "../steps/bucket.ts";
import { addRegistration } from "../store/registrations.ts";
import { listSteps } from "../store/steps.ts";

interface Registration {
  readonly workspace: string;
  readonly requestedBy?: string;
  /** Which service takes it, where it is kept until one does. */
  readonly queue: string;
  readonly payload: object;
  readonly message: string;
  /** The same as the registration API takes it. */
  readonly request: object;
  readonly provenance?: object;
  readonly wait?: number;
}

/** Has a request carried out; without a registration API it is kept until there is one. @returns what its sender is told, and what came of it where that was waited for */
export async function registerIn(
  { db, registration: client }: Pick<ApiContext, "db" | "registration">,
  { workspace, requestedBy, queue, payload, message, request, provenance, wait }: Registration,
): Promise<AcceptedRequest> {
  if (client === undefined) {
    await addRegistration(db, { workspace, queue, payload, ...(requestedBy !== undefined && { requestedBy }) });
    return { message };
  }
  const steps = await listSteps(db, workspace);
  const bucket = steps.find(({ name }) => name === "bucket")?.outputs as BucketOutputs | null | undefined;
  return client.send({
    scope: workspace,
    ...(requestedBy !== undefined && { requestedBy }),
    buckets: bucket ? [bucket.bucketname] : [],
    ...(provenance !== undefined && { provenance }),
    ...(wait !== undefined && { wait }),
    request,
  });
}
