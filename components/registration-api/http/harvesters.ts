import { Problem, maskCredentialsIn, restoreCredentials } from "@swath/service";
import { jsonResponse } from "@swath/service/openapi";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { toConfigForm, withKeptHeaders } from "../harvest/config-form.ts";
import { parseHarvesters, readHarvester } from "../harvest/config.ts";
import { readsProducts } from "../harvest/postprocess-names.ts";
import { RegistrationError } from "../queue/errors.ts";
import {
  type Harvester,
  addRun,
  deleteHarvester,
  findHarvester,
  listHarvesters,
  putHarvester,
} from "../store/harvesters.ts";
import { listLastRuns } from "../store/tasks.ts";
import { type ApiContext, nameOf, requireOperator, showTask } from "./context.ts";
import { DocumentBody, RESPONSES } from "./schemas.ts";

const tags = ["harvesters"];
/** Of a harvester, and of a file of them: people write them, and reading larger ones takes the turn of other requests. */
const MAX_CONFIG_BYTES = 64 * 2 ** 10;
/** The harvester of a file that is meant when none is named. */
const DEFAULT_NAME = "Custom-Config";
const NameParams = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) });
const HarvestBody = Type.Object({
  config: Type.String({ description: "A configuration file, in YAML or JSON" }),
  name: Type.Optional(Type.String({ maxLength: 100, description: "The harvester in it; the only one when left out" })),
});
type Named = { Params: { name: string } };
const { 401: unauthorized, 403: forbidden, 422: invalid, 503: away } = RESPONSES.task;
const REFUSED = { 401: unauthorized, 403: forbidden, 422: invalid, 503: away };
const HarvesterSchema = Type.Object({}, { additionalProperties: true });
const started = {
  ...jsonResponse("Started", Type.Object({ message: Type.String(), harvester: Type.String() })),
  headers: { location: { type: "string", description: "The task" } },
};

/** Harvesters of the platform: kept ones with a schedule, and runs. */
export function addHarvesterRoutes(app: FastifyInstance, context: ApiContext): void {
  const { pool, publicUrl } = context;
  const keep = async (value: unknown, createdBy: string | undefined): Promise<string> => {
    const config = check(() => readHarvester(value));
    check(() => readsProducts(config.postprocess));
    await putHarvester(pool, { scope: "", config, ...(createdBy !== undefined && { createdBy }) }).catch(
      (error: unknown) =>
        check(() => {
          throw error;
        }),
    );
    return config.name;
  };
  app.get(
    "/harvesters",
    {
      schema: {
        tags,
        summary: "Harvesters and when they run",
        response: { 200: jsonResponse("All", Type.Object({ harvesters: Type.Array(HarvesterSchema) })), ...REFUSED },
      },
    },
    async (request) => {
      await requireOperator(context, request);
      const runs = await listLastRuns(pool, "");
      return {
        harvesters: (await listHarvesters(pool, "")).map((harvester) => {
          const run = runs.get(harvester.name);
          return { ...showHarvester(harvester), last_run: run === undefined ? null : showTask(run) };
        }),
      };
    },
  );
  app.put<Named & { Body: Readonly<Record<string, unknown>> }>(
    "/harvesters/:name",
    {
      bodyLimit: MAX_CONFIG_BYTES,
      schema: {
        tags,
        summary: "Keep a harvester",
        params: NameParams,
        body: DocumentBody,
        response: { 200: jsonResponse("Kept", HarvesterSchema), ...REFUSED },
      },
    },
    async (request) => {
      const caller = await requireOperator(context, request);
      const { name } = request.params;
      const before = await findHarvester(pool, "", name);
      const sent = restoreCredentials({ ...request.body, name }, before && toConfigForm(before.config));
      await keep(withKeptHeaders(sent as Readonly<Record<string, unknown>>, before?.config), nameOf(caller));
      return showHarvester((await findHarvester(pool, "", name)) as Harvester);
    },
  );
  app.delete<Named>(
    "/harvesters/:name",
    {
      schema: {
        tags,
        summary: "Forget a harvester; what it brought stays",
        params: NameParams,
        response: { 204: { type: "null", description: "Forgotten" }, 404: RESPONSES.task[404], ...REFUSED },
      },
    },
    async (request, reply) => {
      await requireOperator(context, request);
      if (!(await deleteHarvester(pool, "", request.params.name))) {
        throw notFound(request.params.name);
      }
      return reply.code(204).send();
    },
  );
  app.post<Named>(
    "/harvesters/:name/run",
    {
      schema: {
        tags,
        summary: "Run a harvester now",
        params: NameParams,
        response: { 202: started, 404: RESPONSES.task[404], ...REFUSED },
      },
    },
    async (request, reply) => {
      const requestedBy = nameOf(await requireOperator(context, request));
      const { name } = request.params;
      if ((await findHarvester(pool, "", name)) === undefined) {
        throw notFound(name);
      }
      const id = await addRun(pool, { scope: "", name }, requestedBy === undefined ? {} : { requestedBy });
      return reply
        .code(202)
        .header("location", `${publicUrl}/tasks/${id}`)
        .send({ message: `${name} was started`, harvester: name });
    },
  );
  app.post<{ Body: Static<typeof HarvestBody> }>(
    "/harvest",
    {
      bodyLimit: MAX_CONFIG_BYTES,
      schema: {
        tags,
        summary: "Keep the harvester of a configuration file and run it now",
        body: HarvestBody,
        response: { 202: started, ...REFUSED },
      },
    },
    async (request, reply) => {
      const requestedBy = nameOf(await requireOperator(context, request));
      const harvesters = check(() => parseHarvesters(request.body.config));
      const requested = request.body.name ?? (harvesters.length === 1 ? harvesters[0]?.name : DEFAULT_NAME);
      const config = harvesters.find(({ name }) => name === requested);
      if (config === undefined) {
        throw new Problem(
          422,
          `Name one of the harvesters of the file: ${harvesters.map(({ name }) => name).join(", ")}.`,
        );
      }
      check(() => readsProducts(config.postprocess));
      await putHarvester(pool, { scope: "", config, ...(requestedBy !== undefined && { createdBy: requestedBy }) });
      const id = await addRun(pool, { scope: "", name: config.name }, requestedBy === undefined ? {} : { requestedBy });
      return reply
        .code(202)
        .header("location", `${publicUrl}/tasks/${id}`)
        .send({ message: `${config.name} was started`, harvester: config.name });
    },
  );
}

function check<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof RegistrationError ? new Problem(422, error.message, { cause: error }) : error;
  }
}

const notFound = (name: string): Problem => new Problem(404, `There is no harvester ${name}.`);

/** A harvester as it can be sent again, with when it runs. */
function showHarvester({
  name,
  config,
  schedule,
  enabled,
  cursor,
  next_at: next,
  updated_at: updated,
}: Harvester): object {
  return {
    ...(maskCredentialsIn(toConfigForm(config)) as object),
    name,
    schedule,
    enabled,
    since: cursor?.since ?? null,
    next_run: next?.toISOString() ?? null,
    updated_at: updated.toISOString(),
  };
}
