import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { isProjectName, isRepositoryName } from "../protocol/names.ts";
import { addAudit } from "../store/audit.ts";
import { compilePattern } from "../store/patterns.ts";
import { findProject } from "../store/projects.ts";
import {
  type ReplicationRun,
  type ReplicationTask,
  type RunState,
  type TaskState,
  insertRun,
  listReplicationRuns,
  listTasks,
  stopRun,
} from "../store/replication-runs.ts";
import {
  type Replication,
  type ReplicationValues,
  deleteReplication,
  findReplication,
  insertReplication,
  listReplications,
  updateReplication,
} from "../store/replication.ts";
import { findUpstream } from "../store/upstreams.ts";
import { type ApiContext, pickPage, readPage, requireAdmin, setPageHeaders } from "./context.ts";
import { CRONS, Trigger, toSchedule } from "./crons.ts";

const End = Type.Optional(Type.Union([Type.Null(), Type.Object({ id: Type.Optional(Type.Integer({ minimum: 0 })) })]));
const Filter = Type.Object({
  type: Type.Union([Type.Literal("name"), Type.Literal("tag")]),
  value: Type.String({ minLength: 1, maxLength: 256 }),
});
const Body = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  /** Exactly one of the two: where it comes from, or where it goes. */
  src_registry: End,
  dest_registry: End,
  /** A project here for a pull, a namespace there for a push. */
  dest_namespace: Type.Optional(Type.String({ maxLength: 200 })),
  filters: Type.Optional(Type.Array(Filter, { maxItems: 2 })),
  trigger: Type.Optional(Type.Union([Trigger, Type.Null()])),
  /** Whether tags at the target are overwritten; Go clients leave false out. */
  override: Type.Optional(Type.Boolean()),
  deletion: Type.Optional(Type.Literal(false)),
  enabled: Type.Optional(Type.Boolean()),
});
type Body = Static<typeof Body>;
const NewRun = Type.Object({ policy_id: Type.Integer({ minimum: 1 }) });
const POLICIES = "/replication/policies";
const RUNS = "/replication/executions";

const RUN_STATES: Readonly<Record<RunState, string>> = {
  waiting: "InProgress",
  running: "InProgress",
  succeeded: "Succeed",
  failed: "Failed",
  stopped: "Stopped",
};
const TASK_STATES: Readonly<Record<TaskState, string>> = {
  waiting: "Pending",
  succeeded: "Succeed",
  skipped: "Succeed",
  failed: "Failed",
};

/** Replication: what is copied from and to other registries, when, and how far it is. The administrator's. */
export function addReplicationRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  const find = async (id: string): Promise<Replication> => {
    const found = /^\d{1,18}$/.test(id) ? await findReplication(database, id) : undefined;
    if (found === undefined) {
      throw new Problem(404, "The replication does not exist.");
    }
    return found;
  };
  const idOf = (request: FastifyRequest) => (request.params as { id: string }).id;
  const audit = (actor: string, operation: string, resource: string) =>
    addAudit(database, { actor, operation, project: "", resourceType: "replication", resource });

  app.get(POLICIES, async (request, reply) => {
    await requireAdmin(context, request);
    return pickPage(request, reply, await listReplications(database)).map(toPolicyJson);
  });
  app.post(POLICIES, { schema: { body: Body } }, async (request, reply) => {
    const { name: actor } = await requireAdmin(context, request);
    const values = await toValues(context, request.body as Body);
    const id = await insertReplication(database, values, actor);
    if (id === undefined) {
      throw new Problem(409, `A replication ${values.name} already exists.`);
    }
    await audit(actor, "create", values.name);
    return reply.code(201).header("location", `/api/v2.0${POLICIES}/${id}`).send();
  });
  app.get(`${POLICIES}/:id`, async (request) => {
    await requireAdmin(context, request);
    return toPolicyJson(await find(idOf(request)));
  });
  app.put(`${POLICIES}/:id`, { schema: { body: Body } }, async (request) => {
    const { name: actor } = await requireAdmin(context, request);
    const { id } = await find(idOf(request));
    const values = await toValues(context, request.body as Body);
    if (!(await updateReplication(database, id, values))) {
      throw new Problem(409, `A replication ${values.name} already exists.`);
    }
    await audit(actor, "update", values.name);
    return {};
  });
  app.delete(`${POLICIES}/:id`, async (request) => {
    const { name: actor } = await requireAdmin(context, request);
    const { id, name } = await find(idOf(request));
    await deleteReplication(database, id);
    await audit(actor, "delete", name);
    return {};
  });

  app.post(RUNS, { schema: { body: NewRun } }, async (request, reply) => {
    const { name: actor } = await requireAdmin(context, request);
    const { id, name } = await find(String((request.body as Static<typeof NewRun>).policy_id));
    const run = await database.transact((tx) => insertRun(tx, id, { reason: "manual", actor }));
    await audit(actor, "start", name);
    return reply.code(201).header("location", `/api/v2.0${RUNS}/${run}`).send();
  });
  app.get(RUNS, async (request, reply) => {
    await requireAdmin(context, request);
    const { policy_id: policy } = request.query as { policy_id?: string };
    const replicationId = policy === undefined ? undefined : (await find(policy)).id;
    return pickPage(request, reply, await listReplicationRuns(database, { replicationId })).map(toRunJson);
  });
  const findRun = async (request: FastifyRequest): Promise<ReplicationRun> => {
    const id = idOf(request);
    const [run] = /^\d{1,18}$/.test(id) ? await listReplicationRuns(database, { id }) : [];
    if (run === undefined) {
      throw new Problem(404, "The run does not exist.");
    }
    return run;
  };
  app.get(`${RUNS}/:id`, async (request) => {
    await requireAdmin(context, request);
    return toRunJson(await findRun(request));
  });
  // Stops a run; what it has copied stays.
  app.put(`${RUNS}/:id`, async (request) => {
    await requireAdmin(context, request);
    await stopRun(database, (await findRun(request)).id);
    return {};
  });
  app.get(`${RUNS}/:id/tasks`, async (request, reply) => {
    await requireAdmin(context, request);
    const run = await findRun(request);
    const page = readPage(request);
    const { waiting, succeeded, skipped, failed } = run.tasks;
    setPageHeaders(request, reply, page, waiting + succeeded + skipped + failed);
    return (await listTasks(database, run.id, page)).map((task) => toTaskJson(run, task));
  });
}

/** @throws {Problem} 400 saying what is wrong */
async function toValues({ database }: ApiContext, body: Body): Promise<ReplicationValues> {
  const [source, target] = [body.src_registry?.id ?? 0, body.dest_registry?.id ?? 0];
  if ((source === 0) === (target === 0)) {
    throw new Problem(400, "Give either src_registry, to pull from, or dest_registry, to push to.");
  }
  if ((await findUpstream(database, String(source || target))) === undefined) {
    throw new Problem(400, `The registry ${source || target} does not exist.`);
  }
  const valueOf = (type: string) => body.filters?.find((filter) => filter.type === type)?.value ?? "**";
  const [repositories, tags] = [valueOf("name"), valueOf("tag")];
  for (const pattern of [repositories, tags]) {
    if (compilePattern(pattern) === undefined) {
      throw new Problem(400, `"${pattern}" is not a pattern; allowed: names with *, **, ? and {a,b}.`);
    }
  }
  const namespace = body.dest_namespace ?? "";
  const project = source !== 0 && isProjectName(namespace) ? await findProject(database, namespace) : undefined;
  if (source !== 0 && (project === undefined || project.upstreamId !== undefined)) {
    throw new Problem(400, "dest_namespace must be a project of this registry that is not a cache.");
  }
  if (target !== 0 && namespace !== "" && !isRepositoryName(`${namespace}/x`)) {
    throw new Problem(400, "dest_namespace must be lower-case letters and digits with single . _ - / between them.");
  }
  return {
    name: body.name,
    description: body.description ?? "",
    direction: source === 0 ? "push" : "pull",
    upstreamId: String(source || target),
    repositories,
    tags,
    target: namespace,
    overrides: body.override ?? false,
    isEnabled: body.enabled ?? true,
    schedule: toSchedule(body.trigger ?? undefined),
  };
}

function toPolicyJson(replication: Replication) {
  const end = { id: Number(replication.upstreamId) };
  return {
    id: Number(replication.id),
    name: replication.name,
    description: replication.description,
    src_registry: replication.direction === "pull" ? end : null,
    dest_registry: replication.direction === "push" ? end : null,
    dest_namespace: replication.target,
    filters: [
      { type: "name", value: replication.repositories },
      { type: "tag", value: replication.tags },
    ],
    trigger: {
      type: replication.schedule === "none" ? "manual" : "scheduled",
      trigger_settings: { cron: CRONS[replication.schedule] },
    },
    next_scheduled_time: replication.nextAt?.toISOString() ?? null,
    override: replication.overrides,
    enabled: replication.isEnabled,
    creation_time: replication.createdAt.toISOString(),
    update_time: replication.updatedAt.toISOString(),
  };
}

function toRunJson(run: ReplicationRun) {
  const { waiting, succeeded, skipped, failed } = run.tasks;
  const isOpen = run.state === "waiting" || run.state === "running";
  return {
    id: Number(run.id),
    policy_id: Number(run.replicationId),
    status: RUN_STATES[run.state],
    status_text: run.failure ?? "",
    trigger: run.reason,
    creator: run.actor,
    total: waiting + succeeded + skipped + failed,
    succeed: succeeded + skipped,
    skipped,
    failed,
    in_progress: isOpen ? waiting : 0,
    stopped: isOpen ? 0 : waiting,
    bytes: run.bytes,
    start_time: run.createdAt.toISOString(),
    end_time: run.endedAt?.toISOString() ?? null,
  };
}

function toTaskJson(run: ReplicationRun, task: ReplicationTask) {
  return {
    id: task.position,
    execution_id: Number(run.id),
    status: TASK_STATES[task.state],
    status_text: task.said ?? null,
    resource_type: "artifact",
    src_resource: `${task.source}:${task.tag}`,
    dst_resource: `${task.target}:${task.tag}`,
    bytes: task.bytes,
    end_time: task.endedAt?.toISOString() ?? null,
  };
}
