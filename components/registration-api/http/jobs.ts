import { Problem, maskCredentials } from "@swath/service";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";

import { type Task, type TaskState, cancelTask, findTask, listTasks } from "../store/tasks.ts";
import { type ApiContext, enterTask, requireOperator } from "./context.ts";
import { RESULT } from "./process-descriptions.ts";
import { JobQuery, RESPONSES, TaskParams } from "./schemas.ts";

/** How OGC API Processes calls the states of a task (`statusCode.yaml`). */
const STATUS: Readonly<Record<TaskState, string>> = {
  queued: "accepted",
  running: "running",
  done: "successful",
  failed: "failed",
  superseded: "dismissed",
  cancelled: "dismissed",
};
const RESULT_NOT_READY = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/result-not-ready";
const tags = ["processes"];
type Named = { Params: { id: string } };

/** Tasks as the jobs that they are to clients of OGC API Processes. */
export function addJobRoutes(app: FastifyInstance, context: ApiContext): void {
  const { pool, publicUrl } = context;
  app.get<{ Querystring: Static<typeof JobQuery> }>(
    "/jobs",
    { schema: { tags, summary: "Jobs, the latest first", querystring: JobQuery, response: RESPONSES.jobs } },
    async (request) => {
      await requireOperator(context, request);
      const { limit = 100, before } = request.query;
      const tasks = await listTasks(pool, { limit, ...(before !== undefined && { before }) });
      const last = tasks.length === limit ? tasks.at(-1) : undefined;
      const at = (query: string) => `${publicUrl}/jobs${query}`;
      return {
        jobs: tasks.map((task) => toJob(task, context)),
        links: [
          { rel: "self", type: "application/json", href: at("") },
          ...(last === undefined
            ? []
            : [{ rel: "next", type: "application/json", href: at(`?limit=${limit}&before=${last.id}`) }]),
        ],
      };
    },
  );
  app.get<Named>(
    "/jobs/:id",
    { schema: { tags, summary: "How far a job is", params: TaskParams, response: RESPONSES.job } },
    async (request) => toJob(await enterTask(context, request), context),
  );
  app.get<Named>(
    "/jobs/:id/results",
    { schema: { tags, summary: "What came of a job", params: TaskParams, response: RESPONSES.results } },
    async (request) => toResults(await enterTask(context, request), context),
  );
  app.delete<Named>(
    "/jobs/:id",
    { schema: { tags, summary: "Dismiss a job", params: TaskParams, response: RESPONSES.job } },
    async (request) => {
      const { id, state } = await enterTask(context, request);
      if (!(await cancelTask(pool, id))) {
        throw new Problem(
          409,
          `Job ${id} is ${STATUS[state]}; only jobs that are accepted or running can be dismissed.`,
        );
      }
      return toJob((await findTask(pool, id)) as Task, context);
    },
  );
}

/** `statusInfo.yaml` of OGC API Processes 1.0. */
export function toJob(task: Task, { publicUrl }: ApiContext): object {
  const { id, state, reason, created_at: created, started_at: started, finished_at: finished } = task;
  const href = `${publicUrl}/jobs/${id}`;
  const link = (rel: string, path = "") => ({ rel, type: "application/json", href: `${href}${path}` });
  return {
    jobID: id,
    processID: task.kind === "deregister" ? "deregister" : "register",
    type: "process",
    status: STATUS[state],
    ...(reason !== null && { message: maskCredentials(reason) }),
    created: created.toISOString(),
    ...(started !== null && { started: started.toISOString() }),
    ...(finished !== null && { finished: finished.toISOString() }),
    updated: (finished ?? started ?? created).toISOString(),
    ...(state === "done" && { progress: 100 }),
    links: [
      link("self"),
      { rel: "monitor", type: "application/json", href: `${publicUrl}/tasks/${id}` },
      ...(state === "done" ? [link("http://www.opengis.net/def/rel/ogc/1.0/results", "/results")] : []),
    ],
  };
}

/** The link to what was registered: a record where there is one, else the catalogue. @throws {Problem} where there is none */
export function toResults(task: Task, { catalogueUrl }: ApiContext): object {
  if (task.state === "queued" || task.state === "running") {
    throw new Problem(404, `Job ${task.id} has not ended.`, { type: RESULT_NOT_READY });
  }
  if (task.state !== "done") {
    throw new Problem(422, maskCredentials(task.reason ?? `Job ${task.id} was dismissed.`));
  }
  // Of a collection with its items, the collection.
  const records = task.result?.records ?? [];
  const [record] = records.filter((name) => !name.includes("/")).concat(records);
  const isThere = record !== undefined && task.kind !== "deregister";
  return { [RESULT]: { rel: isThere ? "item" : "data", href: `${catalogueUrl}/stac${isThere ? toPath(record) : ""}` } };
}

function toPath(record: string): string {
  const at = record.indexOf("/");
  const [collection, id] = at < 0 ? [record] : [record.slice(0, at), record.slice(at + 1)];
  const path = `/collections/${encodeURIComponent(collection)}`;
  return id === undefined ? path : `${path}/items/${encodeURIComponent(id)}`;
}
