import { listen } from "@swath/service";
import { chmodSync, mkdirSync } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";

/**
 * Listens on a socket in a folder that servers see. Those in containers have another user's number, so folder and socket are open to
 * all; the folder above them is the hub's alone, and nobody else of the machine comes there.
 */
export async function listenForServers(server: Server, folder: string, name = "sock"): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  chmodSync(folder, 0o711);
  await listen(server, { path: join(folder, name) });
  chmodSync(join(folder, name), 0o666);
}
