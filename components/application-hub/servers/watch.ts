import type { Logger } from "@swath/service";
import { utimesSync, writeFileSync } from "node:fs";

import { MAX_PROCESSES } from "../spawners/server-sandbox.ts";
import type { Spawner, Usage } from "../spawners/spawner.ts";
import type { Profile } from "../profiles/model.ts";
import type { Sql } from "../store/database.ts";
import { type ServerRow, listActive } from "../store/servers.ts";
import type { Lifecycle } from "./lifecycle.ts";

interface WatchDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly spawnerFor: (profile: Profile) => Spawner;
  readonly lease: string;
  readonly idleSeconds: number;
  readonly maxAgeSeconds: number;
  readonly samples: UsageSamples;
}

export interface UsageSample {
  readonly at: number;
  /** Cores in use since the sample before. */
  readonly cores: number;
  readonly memoryBytes: number;
}

/** What servers used lately, oldest first. */
export interface UsageSamples {
  readonly add: (id: string, at: number, usage: Usage) => void;
  readonly of: (id: string) => readonly UsageSample[];
  readonly keepOnly: (ids: ReadonlySet<string>) => void;
}

const MAX_SAMPLES = 180;
const LOOK_MS = 2000;
/** Every so many looks the servers' ends and ages are looked at. */
const LOOKS_BETWEEN_SAMPLES = 5;

export function createUsageSamples(): UsageSamples {
  const last = new Map<string, { at: number; cpuSeconds: number }>();
  const samples = new Map<string, UsageSample[]>();
  return {
    add: (id, at, { cpuSeconds = 0, memoryBytes, cores: told }) => {
      const before = last.get(id);
      last.set(id, { at, cpuSeconds });
      const seconds = before === undefined ? 0 : (at - before.at) / 1000;
      const since = before === undefined ? 0 : Math.max(0, cpuSeconds - before.cpuSeconds);
      const cores = told ?? (seconds > 0 ? since / seconds : 0);
      const list = samples.get(id) ?? [];
      list.push({ at, cores, memoryBytes });
      list.splice(0, list.length - MAX_SAMPLES);
      samples.set(id, list);
    },
    of: (id) => samples.get(id) ?? [],
    keepOnly: (ids) => {
      for (const id of samples.keys()) {
        if (!ids.has(id)) {
          samples.delete(id);
          last.delete(id);
        }
      }
    },
  };
}

/** Sees which servers ended, holds them to their memory, stops idle and old ones, and says that the hub is there. */
export function startWatch(deps: WatchDeps): { readonly close: () => Promise<void> } {
  const { sql, logger, lease } = deps;
  let looks = 0;
  let timer: NodeJS.Timeout;
  let isClosed = false;
  let work = Promise.resolve();
  writeFileSync(lease, "", { mode: 0o600 });
  const look = () => {
    work = (async () => {
      utimesSync(lease, new Date(), new Date());
      const isSample = looks % LOOKS_BETWEEN_SAMPLES === 0;
      looks += 1;
      const servers = await listActive(sql);
      for (const server of servers.filter(({ state }) => state === "ready")) {
        // What one of them runs in may be away; the others are looked after all the same.
        await lookAt(deps, server, isSample).catch((error: unknown) =>
          logger.warn({ err: error, server: server.id }, "a server could not be looked at; retrying"),
        );
      }
      deps.samples.keepOnly(new Set(servers.map(({ id }) => id)));
    })()
      .catch((error: unknown) => logger.error({ err: error }, "failed to look after servers; retrying"))
      .then(() => {
        if (!isClosed) {
          timer = setTimeout(look, LOOK_MS);
        }
      });
  };
  timer = setTimeout(look, 0);
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await work;
    },
  };
}

async function lookAt(deps: WatchDeps, server: ServerRow, isSample: boolean): Promise<void> {
  const { sql, lifecycle, spawnerFor, samples } = deps;
  const spawner = spawnerFor(server.definition);
  const handle = server.handle ?? {};
  const life = await spawner.poll(handle);
  if (!life.alive) {
    // What is left of it would take room: a program beside it, volumes of its own.
    await spawner.stop(handle);
    await sql.rows(
      "update servers set state = 'stopped', target = null, token_hash = null, ended = now(), end_reason = $2 where id = $1 and state = 'ready'",
      [server.id, life.reason],
    );
    return;
  }
  const usage = await spawner.usage(handle);
  if (usage !== undefined) {
    if (isSample) {
      samples.add(server.id, Date.now(), usage);
    }
    const excess = findExcess(usage, Number(server.memory_bytes));
    if (excess !== undefined) {
      await lifecycle.stop(server, excess);
      return;
    }
  }
  const reason = whyCull(server, deps, Date.now());
  if (reason !== undefined) {
    await lifecycle.stop(server, reason);
  }
}

/** What a server uses more of than it may. @param memoryLimit bytes, 0 for none */
export function findExcess({ memoryBytes, processes = 0 }: Usage, memoryLimit: number): string | undefined {
  if (memoryLimit > 0 && memoryBytes > memoryLimit) {
    return `It used ${toMiB(memoryBytes)} MiB of memory and may use ${toMiB(memoryLimit)} MiB; start a larger one.`;
  }
  // The kernel counts processes where the hub is not root.
  return processes > MAX_PROCESSES ? `It started more than ${MAX_PROCESSES} processes.` : undefined;
}

/** Why a server is to end now, if it is. */
export function whyCull(
  server: Pick<ServerRow, "definition" | "last_activity" | "started">,
  { idleSeconds, maxAgeSeconds }: Pick<WatchDeps, "idleSeconds" | "maxAgeSeconds">,
  now: number,
): string | undefined {
  const idle = server.definition.idle_seconds ?? idleSeconds;
  const age = server.definition.max_age_seconds ?? maxAgeSeconds;
  const since = (time: Date | null) => (time === null ? 0 : (now - time.getTime()) / 1000);
  if (age > 0 && since(server.started) > age) {
    return `It was stopped after ${toWords(age)}, the longest that a server of this kind may run.`;
  }
  if (idle > 0 && since(server.last_activity) > idle) {
    return `It was stopped because nothing happened in it for ${toWords(idle)}.`;
  }
  return undefined;
}

const toMiB = (bytes: number): number => Math.round(bytes / 2 ** 20);

function toWords(seconds: number): string {
  return seconds % 3600 === 0
    ? `${seconds / 3600} hours`
    : seconds % 60 === 0
      ? `${seconds / 60} minutes`
      : `${seconds} seconds`;
}
