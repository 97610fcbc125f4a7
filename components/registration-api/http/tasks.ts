import { Problem, maskCredentialsIn, restoreCredentials } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static } from "typebox";

import { listProblems } from "../store/problems.ts";
import { type Task, cancelTask, findTask, listTasks, repeatFailed, repeatTask } from "../store/tasks.ts";
import { type ApiContext, enterTask, requireOperator, showTask } from "./context.ts";
import { RESPONSES, RepairBody, RepeatAllBody, TaskParams, TaskQuery } from "./schemas.ts";

const MAX_SHOWN_PROBLEMS = 1000;
const MAX_REPAIR_BYTES = 9 * 2 ** 20;
const tags = ["tasks"];
type Named = { Params: { id: string } };

/** Requests that follow, repeat and give up what was accepted. */
export function addTaskRoutes(app: FastifyInstance, context: ApiContext): void {
  const { pool } = context;
  const enter = (request: FastifyRequest<Named>) => enterTask(context, request);
  const change = async (
    request: FastifyRequest<Named>,
    apply: (pool: ApiContext["pool"], id: string) => Promise<boolean>,
    states: string,
  ): Promise<object> => {
    const { id, state } = await enter(request);
    if (!(await apply(pool, id))) {
      throw new Problem(409, `Task ${id} is ${state}; only tasks that are ${states} can be changed so.`);
    }
    return showTask((await findTask(pool, id)) as Task);
  };

  app.get<{ Querystring: Static<typeof TaskQuery> }>(
    "/tasks",
    {
      schema: {
        tags,
        summary: "What was accepted, the latest first",
        querystring: TaskQuery,
        response: RESPONSES.tasks,
      },
    },
    async (request) => {
      await requireOperator(context, request);
      const { limit = 100, workspace, state, kind, before } = request.query;
      return showTasks(
        await listTasks(pool, {
          limit,
          ...(workspace !== undefined && { scope: workspace }),
          ...(state !== undefined && { state }),
          ...(kind !== undefined && { kind }),
          ...(before !== undefined && { before }),
        }),
        limit,
      );
    },
  );
  app.get<Named>(
    "/tasks/:id",
    { schema: { tags, summary: "How far a task is", params: TaskParams, response: RESPONSES.task } },
    async (request) => showTask(await enter(request)),
  );
  app.get<Named>(
    "/tasks/:id/problems",
    {
      schema: {
        tags,
        summary: "Records that could not be registered, and why",
        params: TaskParams,
        response: RESPONSES.problems,
      },
    },
    async (request) => {
      const { id } = await enter(request);
      const problems = await listProblems(pool, id, MAX_SHOWN_PROBLEMS);
      return { problems: problems.map((problem) => maskCredentialsIn(problem)) };
    },
  );
  app.post<{ Body: Static<typeof RepeatAllBody> }>(
    "/tasks/repeat",
    {
      schema: {
        tags,
        summary: "Repeat all tasks that were set aside",
        body: RepeatAllBody,
        response: RESPONSES.repeated,
      },
    },
    async (request) => {
      await requireOperator(context, request);
      const { kind, workspace } = request.body;
      const repeated = await repeatFailed(pool, {
        ...(kind !== undefined && { kind }),
        ...(workspace !== undefined && { scope: workspace }),
      });
      return { repeated };
    },
  );
  app.post<Named & { Body: Static<typeof RepairBody> }>(
    "/tasks/:id/repeat",
    {
      bodyLimit: MAX_REPAIR_BYTES,
      schema: {
        tags,
        summary: "Repeat a task that was set aside, with what is mended of its request",
        params: TaskParams,
        body: RepairBody,
        response: RESPONSES.changed,
      },
    },
    async (request) => {
      let repair = request.body ?? {};
      if (Object.keys(repair).length > 0) {
        await requireOperator(context, request);
        const { payload } = await enter(request);
        // What was shown without its login comes back so.
        repair = restoreCredentials(repair, payload) as typeof repair;
        const unknown = Object.keys(repair).filter((key) => !(key in payload));
        if (unknown.length > 0) {
          throw new Problem(
            422,
            `The task's request has no ${unknown.join(", ")}; it has ${Object.keys(payload).join(", ")}.`,
          );
        }
      }
      return change(request, (db, id) => repeatTask(db, id, repair), "failed or cancelled");
    },
  );
  app.delete<Named>(
    "/tasks/:id",
    { schema: { tags, summary: "Give a task up", params: TaskParams, response: RESPONSES.changed } },
    (request) => change(request, cancelTask, "queued or running"),
  );
}

/** A page of tasks with the way to the next one. */
export function showTasks(tasks: readonly Task[], limit: number): object {
  const last = tasks.length === limit ? tasks.at(-1) : undefined;
  return { tasks: tasks.map(showTask), ...(last !== undefined && { next: last.id }) };
}
