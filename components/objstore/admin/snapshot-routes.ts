import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import type { SnapshotWork } from "../background/snapshot-work.ts";
import { isBucketName } from "../protocol/address.ts";
import type { Snapshot } from "../store/snapshots/snapshots.ts";
import type { ObjectStore } from "../store/store.ts";

interface SnapshotRoutesDeps {
  readonly store: Pick<ObjectStore, "snapshots" | "restore" | "buckets">;
  readonly work: SnapshotWork;
  readonly schedule: string | undefined;
  /** Aborted when the service stops. */
  readonly signal: AbortSignal;
  readonly requireRoot: (request: FastifyRequest) => void;
}

const Restore = Type.Object({ bucket: Type.Optional(Type.String()), as: Type.Optional(Type.String()) });

/** Snapshots of the store, for the root user: they hold all of it. */
export function addSnapshotRoutes(app: FastifyInstance, deps: SnapshotRoutesDeps): void {
  const { store, work, requireRoot } = deps;
  const start = (...[kind, snapshot, run]: Parameters<SnapshotWork["start"]>) => {
    const job = work.start(kind, snapshot, run);
    if (job === undefined) {
      throw new Problem(409, "A snapshot is being made or restored. Try again when it is done: GET /api/snapshots.");
    }
    return job;
  };
  const find = async (id: string): Promise<Snapshot> => {
    const snapshot = await store.snapshots.find(id);
    if (snapshot === undefined) {
      throw new Problem(404, `There is no snapshot ${id}.`);
    }
    return snapshot;
  };

  app.get("/api/snapshots", async (request) => {
    requireRoot(request);
    const snapshots = await store.snapshots.list();
    return {
      schedule: deps.schedule ?? null,
      job: work.last ?? null,
      snapshots: snapshots.map(({ buckets, ...snapshot }) => ({
        ...snapshot,
        buckets: buckets.length,
        objects: buckets.reduce((sum, { objects }) => sum + objects, 0),
        bytes: buckets.reduce((sum, { bytes }) => sum + bytes, 0),
      })),
    };
  });
  app.get<{ Params: { id: string } }>("/api/snapshots/:id", (request) => {
    requireRoot(request);
    return find(request.params.id);
  });
  app.post("/api/snapshots", (request, reply) => {
    requireRoot(request);
    return reply
      .code(202)
      .send(start("create", null, () => store.snapshots.create({ isScheduled: false, signal: deps.signal })));
  });
  app.delete<{ Params: { id: string } }>("/api/snapshots/:id", async (request, reply) => {
    requireRoot(request);
    const { id } = await find(request.params.id);
    if (work.last?.state === "running" && work.last.snapshot === id) {
      throw new Problem(409, `Snapshot ${id} is being restored.`);
    }
    await store.snapshots.delete(id);
    return reply.code(204).send();
  });
  app.post<{ Params: { id: string }; Body: Static<typeof Restore> }>(
    "/api/snapshots/:id/restore",
    { schema: { body: Restore } },
    async (request, reply) => {
      requireRoot(request);
      const { id, buckets } = await find(request.params.id);
      const wanted = chooseBuckets(
        store,
        buckets.map(({ name }) => name),
        request.body,
      );
      return reply.code(202).send(start("restore", id, () => store.restore(id, wanted, deps.signal)));
    },
  );
}

function chooseBuckets(
  store: SnapshotRoutesDeps["store"],
  names: readonly string[],
  { bucket, as }: Static<typeof Restore>,
): { readonly bucket: string; readonly as: string }[] {
  if (bucket === undefined) {
    if (as !== undefined) {
      throw new Problem(400, '"as" needs "bucket": one bucket is restored under another name.');
    }
    return names.map((name) => ({ bucket: name, as: name }));
  }
  if (!names.includes(bucket)) {
    throw new Problem(404, `The snapshot has no bucket ${bucket}.`);
  }
  if (as !== undefined && !isBucketName(as)) {
    throw new Problem(400, `"${as}" is not a bucket name: 3 to 63 of a-z, 0-9, "-" and ".", no two dots in a row.`);
  }
  if (as !== undefined && as !== bucket && store.buckets.find(as) !== undefined) {
    throw new Problem(409, `There is a bucket ${as}.`);
  }
  return [{ bucket, as: as ?? bucket }];
}
