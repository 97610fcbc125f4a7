import { isDeepStrictEqual } from "node:util";

import type { Release } from "../../../releases/releases.ts";
import type { Connection } from "../api/connection.ts";
import { RELEASES_SECRET } from "./names.ts";
import { packedSecret } from "./packed-secret.ts";

interface Releases {
  readonly cluster: string;
  readonly releases: readonly Release[];
}

const secret = packedSecret<Releases>(RELEASES_SECRET, "releases.json.gz");

/** The versions that were applied to a deployment, the latest last. */
export async function readReleases(connection: Connection, clusterName: string): Promise<readonly Release[]> {
  const kept = await secret.read(connection);
  return kept?.cluster === clusterName ? kept.releases : [];
}

/** An apply that changes nothing changes nothing here either, so the time of the first one stays. */
export async function writeReleases(
  connection: Connection,
  clusterName: string,
  releases: readonly Release[],
): Promise<void> {
  const present = await readReleases(connection, clusterName);
  if (!isDeepStrictEqual(present.map(withoutTime), releases.map(withoutTime))) {
    await secret.write(connection, clusterName, { cluster: clusterName, releases });
  }
}

const withoutTime = (release: Release) => ({ ...release, appliedAt: "" });
