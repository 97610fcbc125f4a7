import type { Plan } from "../../../platform/plan.ts";
import type { Connection } from "../api/connection.ts";
import { KubernetesError, describeApiError } from "../kubernetes-error.ts";
import type { Check } from "./check.ts";
import { checkClasses } from "./classes.ts";
import { checkNamespaces } from "./namespaces.ts";
import { checkOwnership } from "./ownership.ts";
import { checkPermissions } from "./permissions.ts";
import { checkPrograms } from "./programs.ts";
import { checkVolumes } from "./volumes.ts";

/** Server-side apply, Ingress v1. */
const OLDEST_MINOR = 20;
const TIMEOUT = 10_000;

const checks: readonly Check[] = [
  checkOwnership,
  checkNamespaces,
  checkClasses,
  checkVolumes,
  checkPermissions,
  checkPrograms,
];

/**
 * Finds everything that would make a deployment fail in the middle, before anything is changed.
 * @throws {KubernetesError} with all of it
 */
export async function checkCluster(
  connection: Connection,
  plan: Plan,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly minor: number }> {
  const minor = await readMinorVersion(connection);
  const found = await Promise.all(
    checks.map(async (check) => {
      try {
        return await check({ connection, plan, minor, env });
      } catch (error) {
        return [`a check could not be made: ${describeApiError(error)}`];
      }
    }),
  );
  const problems = [...new Set(found.flat())];
  if (problems.length > 0) {
    throw new KubernetesError(
      `nothing was changed, because the cluster of context "${connection.context}" cannot take this deployment:\n${problems.map((problem) => `ERROR: ${problem}`).join("\n")}`,
    );
  }
  return { minor };
}

/** @throws {KubernetesError} when the cluster cannot be reached, refuses the user, or is too old */
export async function readMinorVersion(connection: Connection): Promise<number> {
  const { context, server, version } = connection;
  const response = await Promise.race([
    version.getCode().catch((error: unknown) => {
      throw new KubernetesError(
        `the cluster of context "${context}" cannot be reached at ${server}: ${describeApiError(error)}`,
        { cause: error },
      );
    }),
    new Promise<never>((_, reject) => {
      setTimeout(
        () => reject(new KubernetesError(`the cluster of context "${context}" does not answer at ${server}`)),
        TIMEOUT,
      ).unref();
    }),
  ]);
  const minor = Number.parseInt(response.minor, 10);
  if (response.major !== "1" || !(minor >= OLDEST_MINOR)) {
    throw new KubernetesError(
      `the cluster of context "${context}" has Kubernetes ${response.gitVersion}; this deployment needs 1.${OLDEST_MINOR} or newer`,
    );
  }
  return minor;
}
