import { makePrivateFolder } from "@swath/isolation";
import { hash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Folders of the hub on this machine. */
export interface HubFolders {
  /** What users keep: `homes/<user>`. */
  readonly homeOf: (user: string) => string;
  /** The same for servers in containers, whose users have numbers of their own. */
  readonly containerHomeOf: (user: string) => string;
  /** Sockets and logs of one server. */
  readonly serverOf: (id: string) => string;
  /** Sockets that all servers see: the hub's, and the ways to the network. */
  readonly shared: string;
  /** Touched while the hub is there. */
  readonly lease: string;
}

/**
 * Sockets have short paths, so they are below the system's folder for temporary files, in one that only this deployment's user
 * can enter.
 */
export function openFolders(data: string): HubFolders {
  // With the user's number: a hub that gets its own account cannot use the folder of another one.
  const run = join(tmpdir(), `swath-hub-${process.getuid?.() ?? 0}-${hash("sha256", data).slice(0, 10)}`);
  const shared = join(run, "shared");
  for (const folder of [data, join(data, "homes")]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  makePrivateFolder(run);
  makePrivateFolder(shared);
  // A name is not a path: users may be called "..".
  const toFolder = (user: string) =>
    /^[a-z0-9][a-z0-9_-]{0,60}$/.test(user) ? user : `~${hash("sha256", user).slice(0, 24)}`;
  return {
    homeOf: (user) => join(data, "homes", toFolder(user)),
    // Another number is needed only where the hub is root; a home is not given to another user on the way.
    containerHomeOf: (user) => join(data, process.getuid?.() === 0 ? "container-homes" : "homes", toFolder(user)),
    serverOf: (id) => join(run, id.replaceAll("-", "").slice(0, 12)),
    shared,
    // With the volume: a deployment that is deleted with its data takes its servers along.
    lease: join(data, "lease"),
  };
}
