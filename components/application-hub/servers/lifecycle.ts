import { type Logger, Problem } from "@swath/service";
import { setTimeout as sleep } from "node:timers/promises";

import type { Profile } from "../profiles/model.ts";
import { sizeOf } from "../profiles/quantities.ts";
import type { Spawner } from "../spawners/spawner.ts";
import { type Sql, createSecret } from "../store/database.ts";
import { type ServerRow, addProgress, findServer, findServerById, listActive, listServers } from "../store/servers.ts";
import type { UserRow } from "../store/users.ts";
import { answersAt } from "./answers-at.ts";
import { baseOf } from "./base-path.ts";
import { checkServerName, toLabel } from "./names.ts";
import { type Quotas, checkQuotas } from "./quotas.ts";

/** Starts and stops servers, one change of one server at a time, and goes on after the hub was killed in the middle. */
export interface Lifecycle {
  /** @throws {Problem} 400, 403, 404, 409 */
  readonly start: (user: UserRow, name: string, request: StartRequest) => Promise<ServerRow>;
  readonly stop: (server: ServerRow, reason: string) => Promise<void>;
  /** Takes up what a hub before this one left in the middle. */
  readonly resume: () => Promise<void>;
  readonly spawnerOf: (profile: Profile) => Spawner;
  /** Stops following what is under way; the servers run on. */
  readonly close: () => Promise<void>;
}

export interface StartRequest {
  readonly profile: Profile;
  readonly options: Readonly<Record<string, unknown>>;
}

interface LifecycleDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly quotas: Quotas;
  readonly spawnerFor: (profile: Profile) => Spawner;
  readonly startTimeoutMs: number;
  /** Environment of a server beside what its spawner adds. */
  readonly environmentOf: (server: ServerRow, token: string) => Readonly<Record<string, string>>;
  readonly originOf: (label: string) => string;
}

const POLL_MS = 50;
const MAX_POLL_MS = 500;

export function createLifecycle(deps: LifecycleDeps): Lifecycle {
  const { sql, logger, quotas, spawnerFor } = deps;
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  const follow = (work: Promise<void>) => {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };

  const fail = async (server: ServerRow, reason: string) => {
    await addProgress(sql, server.id, { progress: 100, message: `failed: ${reason}` });
    await sql.rows(
      "update servers set state = 'stopped', target = null, token_hash = null, ended = now(), end_reason = $2 where id = $1 and state <> 'stopped'",
      [server.id, reason],
    );
  };

  const spawn = async (server: ServerRow, token: string) => {
    const spawner = spawnerFor(server.definition);
    const base = baseOf(server);
    const launch = {
      id: server.id,
      user: server.user_name,
      name: server.name,
      profile: server.definition,
      options: server.options,
      size: sizeOf(server.definition, server.options),
      base,
      origin: deps.originOf(server.label),
      env: deps.environmentOf(server, token),
    };
    const planned = spawner.plan(launch);
    await sql.rows("update servers set handle = $2 where id = $1", [server.id, JSON.stringify(planned)]);
    const events: Promise<void>[] = [];
    const started = await spawner.start(launch, planned, (message) =>
      events.push(addProgress(sql, server.id, { progress: 30, message })),
    );
    await Promise.all(events);
    await sql.rows("update servers set handle = $2, target = $3 where id = $1", [
      server.id,
      JSON.stringify({ ...started.handle, readyPath: started.readyPath }),
      JSON.stringify(started.target),
    ]);
    await untilReady({
      ...server,
      handle: { ...started.handle, readyPath: started.readyPath },
      target: started.target,
    });
  };

  const untilReady = async (server: ServerRow) => {
    const { handle, target } = server;
    const path = handle?.["readyPath"];
    const spawner = spawnerFor(server.definition);
    const deadline = server.created.getTime() > 0 ? Date.now() + deps.startTimeoutMs : 0;
    await addProgress(sql, server.id, { progress: 60, message: "waiting until it answers" });
    for (let delayMs = POLL_MS; ; delayMs = Math.min(delayMs * 1.2, MAX_POLL_MS)) {
      const now = await findServerById(sql, server.id);
      if (now?.state !== "starting") {
        return;
      }
      const life = await spawner.poll(handle ?? {});
      if (!life.alive) {
        await spawner.stop(handle ?? {});
        await fail(server, life.reason);
        return;
      }
      if (typeof path !== "string" || (target !== null && "url" in target && (await answersAt(target.url, path)))) {
        break;
      }
      if (Date.now() > deadline) {
        await spawner.stop(handle ?? {});
        await fail(server, `It did not answer within ${Math.round(deps.startTimeoutMs / 1000)} seconds.`);
        return;
      }
      await sleep(delayMs, undefined, { signal: closing.signal });
    }
    await addProgress(sql, server.id, { progress: 100, message: "ready" });
    await sql.rows("update servers set state = 'ready', last_activity = now() where id = $1 and state = 'starting'", [
      server.id,
    ]);
  };

  const guard = (server: ServerRow, work: Promise<void>) =>
    follow(
      work.catch(async (error: unknown) => {
        if (closing.signal.aborted) {
          return;
        }
        logger.error({ err: error, server: server.id }, "server failed to start");
        // The handle was planned and written after the row was read.
        const handle = (await findServerById(sql, server.id).catch(() => undefined))?.handle ?? server.handle;
        await spawnerFor(server.definition)
          .stop(handle ?? { kind: "unknown", id: server.id })
          .catch((cause: unknown) => logger.error({ err: cause, server: server.id }, "what is left of a server stays"));
        await fail(server, error instanceof Error ? error.message : String(error)).catch((cause: unknown) =>
          logger.error({ err: cause }, "server state was not written"),
        );
      }),
    );

  return {
    spawnerOf: spawnerFor,
    start: async (user, name, { profile, options }) => {
      checkServerName(name);
      const unavailable = await spawnerFor(profile).whyNot(profile);
      if (unavailable !== undefined) {
        throw new Problem(
          409,
          `${profile.definition.display_name} cannot run here: ${unavailable.reason}.${unavailable.command === undefined ? "" : ` An operator makes it possible with: ${unavailable.command}`}`,
          { extensions: { ...(unavailable.command !== undefined && { command: unavailable.command }) } },
        );
      }
      const size = sizeOf(profile, options);
      const { secret, hash } = createSecret();
      const server = await sql.exclusive(`servers of ${user.name}`, async (tx) => {
        const found = await findServer(tx, user.name, name);
        if (found !== undefined && found.state !== "stopped") {
          throw new Problem(
            400,
            `${name === "" ? "The server" : `Server ${name}`} of ${user.name} is ${found.state} already.`,
          );
        }
        const own = await listServers(tx, user.name);
        checkQuotas(
          quotas,
          own.filter(({ state }) => state !== "stopped"),
          size,
        );
        const row = await tx.first<ServerRow>(
          `insert into servers (user_name, name, label, profile, definition, options, state, token_hash, cores, memory_bytes, started, last_activity, progress)
           values ($1, $2, $3, $4, $5, $6, 'starting', $7, $8, $9, now(), now(), '[]')
           on conflict (user_name, name) do update set profile = excluded.profile, definition = excluded.definition, options = excluded.options,
             state = 'starting', token_hash = excluded.token_hash, cores = excluded.cores, memory_bytes = excluded.memory_bytes,
             started = now(), last_activity = now(), progress = '[]', handle = null, target = null, ended = null, end_reason = null,
             workspace_trouble = null
           returning *`,
          [
            user.name,
            name,
            toLabel(user.name, name),
            profile.id,
            JSON.stringify(profile),
            JSON.stringify(options),
            hash,
            size.cores,
            size.memoryBytes,
          ],
        );
        return row as ServerRow;
      });
      await addProgress(sql, server.id, { progress: 10, message: `starting ${profile.definition.display_name}` });
      guard(server, spawn(server, secret));
      return server;
    },
    stop: async (server, reason) => {
      const moved = await sql.first<ServerRow>(
        "update servers set state = 'stopping' where id = $1 and state in ('starting', 'ready') returning *",
        [server.id],
      );
      const current = moved ?? (await findServerById(sql, server.id));
      if (current === undefined || current.state === "stopped") {
        return;
      }
      await spawnerFor(current.definition).stop(current.handle ?? { kind: "unknown", id: current.id });
      await sql.rows(
        "update servers set state = 'stopped', target = null, token_hash = null, ended = now(), end_reason = $2 where id = $1",
        [current.id, reason],
      );
      await sql.rows("delete from tokens where server_id = $1", [current.id]);
    },
    resume: async () => {
      for (const server of await listActive(sql)) {
        if (server.state === "stopping") {
          guard(server, finishStop(deps, server));
        } else if (server.state === "starting") {
          // Its secret was known to the hub that was killed alone: unless it runs already, it starts anew.
          guard(server, server.target === null ? respawn(server) : untilReady(server));
        }
      }
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(underWay);
    },
  };

  async function respawn(server: ServerRow): Promise<void> {
    await spawnerFor(server.definition).stop(server.handle ?? { kind: "unknown", id: server.id });
    const { secret, hash } = createSecret();
    await sql.rows("update servers set token_hash = $2 where id = $1", [server.id, hash]);
    await addProgress(sql, server.id, { progress: 10, message: "the hub was restarted; starting again" });
    await spawn(server, secret);
  }
}

async function finishStop({ sql, spawnerFor }: LifecycleDeps, server: ServerRow): Promise<void> {
  await spawnerFor(server.definition).stop(server.handle ?? { kind: "unknown", id: server.id });
  await sql.rows(
    "update servers set state = 'stopped', target = null, token_hash = null, ended = now(), end_reason = coalesce(end_reason, 'It was stopped.') where id = $1",
    [server.id],
  );
}
