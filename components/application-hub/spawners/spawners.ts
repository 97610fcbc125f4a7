import type { Profile } from "../profiles/model.ts";
import { createBrowserSpawner } from "./browser-spawner.ts";
import { createContainerSpawner } from "./containers/container-spawner.ts";
import type { HubFolders } from "./folders.ts";
import { createProgramSpawner } from "./program-spawner.ts";
import type { Spawner } from "./spawner.ts";

/** The spawner of each profile. */
export interface Spawners {
  readonly of: (profile: Profile) => Spawner;
}

interface SpawnersOptions {
  readonly folders: HubFolders;
  readonly engine: string;
  readonly hasStorage: boolean;
  /** Certificate of the platform's own authority, where it has one. */
  readonly authorityFile: string | undefined;
  /** Where servers are pods of a cluster: nothing of a profile runs on the hub's own machine. */
  readonly pods: Spawner | undefined;
}

export function createSpawners({ folders, engine, hasStorage, authorityFile, pods }: SpawnersOptions): Spawners {
  if (pods !== undefined) {
    const inBrowser = createBrowserSpawner();
    return { of: ({ embedded }) => (embedded?.kind === "browser" ? inBrowser : pods) };
  }
  const program = createProgramSpawner({ folders, hasStorage, authorityFile });
  const container = createContainerSpawner({ folders, engine, hasStorage, authorityFile });
  const browser = createBrowserSpawner();
  return {
    of: ({ embedded }) => (embedded?.kind === "program" ? program : embedded?.kind === "browser" ? browser : container),
  };
}
