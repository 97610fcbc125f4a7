import { OgcError } from "../errors.ts";
import { type AdesSettings, NoWorkspaceError, type UserStorage } from "./storage.ts";
import { withinMoments } from "./within-moments.ts";

/**
 * Refuses to execute for a user whose results would have no place: where they go to workspaces, a job of someone without one could only fail.
 * While the workspaces' service is away nothing is refused: the job waits for it.
 * @throws {OgcError} 403
 */
export async function checkResultPlace(
  { STAGEOUT_TARGET: target }: Pick<AdesSettings, "STAGEOUT_TARGET">,
  storageOf: (user: string) => Promise<UserStorage>,
  owner: string,
): Promise<void> {
  if (target !== "workspace") {
    return;
  }
  const lacking = await withinMoments(
    storageOf(owner).then(
      () => undefined,
      (error: unknown) => (error instanceof NoWorkspaceError ? error : undefined),
    ),
  );
  if (lacking !== undefined) {
    throw new OgcError(403, "NoWorkspace", `Results go to a workspace, so nothing can be executed: ${lacking.message}`);
  }
}
