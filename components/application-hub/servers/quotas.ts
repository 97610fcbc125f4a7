import { Problem } from "@swath/service";

import type { ServerSize } from "../profiles/quantities.ts";
import type { ServerRow } from "../store/servers.ts";

/** What all servers of a user may come to. */
export interface Quotas {
  readonly servers: number;
  readonly cores: number;
  readonly memoryBytes: number;
}

/** @throws {Problem} 403 saying what is used up and by what */
export function checkQuotas(quotas: Quotas, active: readonly ServerRow[], size: ServerSize): void {
  const used = {
    servers: active.length,
    cores: active.reduce((sum, { cores }) => sum + cores, 0),
    memory: active.reduce((sum, { memory_bytes: bytes }) => sum + Number(bytes), 0),
  };
  const others = active.map(({ name }) => (name === "" ? "the default server" : name)).join(", ");
  const refuse = (what: string) =>
    new Problem(403, `${what} Stop one of the servers that run: ${others === "" ? "none" : others}.`, {
      title: "Quota exceeded",
      type: "urn:swath:quota",
    });
  if (used.servers + 1 > quotas.servers) {
    throw refuse(`You may have ${quotas.servers} servers at a time and have ${used.servers}.`);
  }
  if (used.cores + size.cores > quotas.cores) {
    throw refuse(
      `Your servers may have ${quotas.cores} cores; ${used.cores} are in use and this one asks for ${size.cores}.`,
    );
  }
  if (used.memory + size.memoryBytes > quotas.memoryBytes) {
    throw refuse(
      `Your servers may have ${toGiB(quotas.memoryBytes)} GiB of memory; ${toGiB(used.memory)} are in use and this one asks for ${toGiB(size.memoryBytes)}.`,
    );
  }
}

const toGiB = (bytes: number): string => (bytes / 2 ** 30).toFixed(1).replace(/\.0$/, "");
