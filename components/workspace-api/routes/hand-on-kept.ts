import type { Logger } from "@swath/service";
import type { Kysely } from "kysely";

import type { RegistrationClient } from "../clients/registration.ts";
import { WorkspaceError } from "../errors.ts";
import { type KeptRegistration, endRegistration, nextPending } from "../store/registrations.ts";
import type { Tables } from "../store/tables.ts";
import { registerIn } from "./register-in.ts";

const RETRY_MS = 15_000;
/** A registration service that answers so takes the same request later. */
const isTemporary = (status: number): boolean => status >= 500 || status === 429;

/** Hands on the registrations that a deployment without a registration service had accepted, in their order. @returns ends it */
export function handOnKept(db: Kysely<Tables>, registration: RegistrationClient, logger: Logger): () => void {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const run = async (): Promise<void> => {
    for (let kept = await nextPending(db); kept !== undefined && !isClosed; kept = await nextPending(db)) {
      await handOn(kept);
    }
  };
  const handOn = async (kept: KeptRegistration): Promise<void> => {
    try {
      const { message } = await registerIn(
        { db, registration },
        {
          workspace: kept.workspace,
          request: toRequest(kept),
          idempotencyKey: `kept-${kept.id}`,
          ...(kept.requested_by !== null && { requestedBy: kept.requested_by }),
        },
      );
      await endRegistration(db, kept.id, "done", message);
    } catch (error) {
      if (!(error instanceof WorkspaceError) || isTemporary(error.status)) {
        throw error;
      }
      await endRegistration(db, kept.id, "failed", error.message);
    }
  };
  const attempt = (): void => {
    run().catch((error: unknown) => {
      logger.warn({ err: error }, "registrations of before cannot be handed on yet");
      if (!isClosed) {
        timer = setTimeout(attempt, RETRY_MS);
      }
    });
  };
  attempt();
  return () => {
    isClosed = true;
    clearTimeout(timer);
  };
}

/** The form of a kept registration, as the registration service takes it. */
function toRequest({ queue, payload }: KeptRegistration): object {
  if (queue === "collection" || queue === "json") {
    return { form: queue, document: payload };
  }
  if (queue === "deregister") {
    return { form: "deregister", ...payload };
  }
  if (queue === "harvester") {
    const { values } = payload as { values: { resource: { root_path: string } } };
    return { form: "register", type: "stac-catalog", url: values.resource.root_path };
  }
  const { parent_identifier: parent, ...rest } = payload as { parent_identifier?: string | null };
  return { form: "register", ...rest, ...(parent && { parent_identifier: parent }) };
}
