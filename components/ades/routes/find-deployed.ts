import { type StoredProcess, findByWorkflow, findProcess } from "../store/processes.ts";
import { type ApiContext, isEarlierLine } from "./context.ts";

/**
 * The deployed process that a request names, by id or `id:version`. Where ids have the version, the name of the workflow alone
 * means the process that was deployed last, so that one request works in both variants.
 */
export async function findDeployed(
  context: Pick<ApiContext, "db" | "settings">,
  user: string,
  name: string,
): Promise<StoredProcess | undefined> {
  const { db } = context;
  const found = await findProcess(db, user, name);
  if (found !== undefined || !isEarlierLine(context)) {
    return found;
  }
  const [workflow = "", version] = name.split(/:(.*)/s, 2);
  const latest = await findByWorkflow(db, user, workflow);
  return version === undefined || latest === undefined ? latest : findProcess(db, user, `${latest.id}:${version}`);
}
