import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { findFreePort } from "@swath/testing";

import { type IngressProcess, configOf, routeTo, startIngress, writeConfig } from "../../../ingress/test/harness.ts";

/** An ingress that answers for HTTP-01 what is in a folder, as that of a cluster does. */
export async function startChallengeIngress(
  folder: string,
  challengeFolder: string,
  hosts: readonly string[],
): Promise<{ readonly ingress: IngressProcess; readonly httpPort: number }> {
  const httpPort = await findFreePort();
  mkdirSync(challengeFolder);
  const file = join(folder, "ingress.json");
  const routes = hosts.map((host) => routeTo(host, null));
  writeConfig(file, configOf(httpPort, routes, { challengeFolder }));
  return { ingress: await startIngress(file), httpPort };
}
