import { Problem } from "@swath/service";
import { jsonResponse } from "@swath/service/openapi";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import type { RegistrationRequest } from "../model/requests.ts";
import { type Task, findTask } from "../store/tasks.ts";
import { type Acceptor, awaitTask } from "./accept.ts";
import type { ApiContext } from "./context.ts";
import { toJob, toResults } from "./jobs.ts";
import { PROCESSES, type ProcessId, toRegistrationType } from "./process-descriptions.ts";
import { RESPONSES } from "./schemas.ts";

/** How long a synchronous execution waits for its end; longer ones go on as jobs. */
const SYNC_WAIT_MS = 25_000;
const NO_SUCH_PROCESS = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/no-such-process";
const CONFORMANCE = [
  ...["core", "ogc-process-description", "json", "job-list", "dismiss"].map(
    (name) => `http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/${name}`,
  ),
  "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
];
const tags = ["processes"];

const Link = Type.Object(
  { href: Type.String({ minLength: 1, maxLength: 4096 }), rel: Type.Optional(Type.String({ maxLength: 500 })) },
  { additionalProperties: true },
);
const ExecuteBody = Type.Object(
  {
    inputs: Type.Object(
      {
        type: Type.Optional(Type.String({ maxLength: 100 })),
        source: Type.Optional(Link),
        id: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
        rel: Type.Optional(Type.String({ maxLength: 500 })),
        target: Type.Optional(Link),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: true },
);
type Inputs = Static<typeof ExecuteBody>["inputs"];
const ProcessParams = Type.Object({ process: Type.String({ maxLength: 100 }) });

/** Registration as processes, as release 2.0 of the known system has it (OGC API Processes 1.0). */
export function addProcessRoutes(app: FastifyInstance, context: ApiContext, accept: Acceptor): void {
  const { publicUrl } = context;
  const link = (rel: string, path: string, type = "application/json") => ({ rel, type, href: `${publicUrl}${path}` });

  app.get("/", { schema: { hide: true } }, (request, reply) =>
    /text\/html/.test(request.headers.accept ?? "")
      ? reply.redirect("/docs")
      : {
          title: "Registration API",
          description: "Brings data, services and applications into the platform's resource catalogue.",
          links: [
            link("self", "/"),
            link("service-desc", "/openapi.json", "application/vnd.oai.openapi+json;version=3.0"),
            link("service-doc", "/docs", "text/html"),
            link("http://www.opengis.net/def/rel/ogc/1.0/conformance", "/conformance"),
            link("http://www.opengis.net/def/rel/ogc/1.0/processes", "/processes"),
            link("http://www.opengis.net/def/rel/ogc/1.0/job-list", "/jobs"),
          ],
        },
  );
  app.get<{ Querystring: { f?: string } }>("/openapi", { schema: { hide: true } }, ({ query }, reply) =>
    reply.redirect(query.f === "html" ? "/docs" : "/openapi.json"),
  );
  app.get(
    "/conformance",
    {
      schema: {
        tags,
        summary: "Conformance classes",
        response: { 200: jsonResponse("Classes", Type.Object({ conformsTo: Type.Array(Type.String()) })) },
      },
    },
    () => ({ conformsTo: CONFORMANCE }),
  );
  app.get("/processes", { schema: { tags, summary: "What can be executed", response: RESPONSES.processes } }, () => ({
    processes: PROCESSES.map(({ inputs: _inputs, outputs: _outputs, ...summary }) => ({
      ...summary,
      links: [link("self", `/processes/${summary.id}`)],
    })),
    links: [link("self", "/processes")],
  }));
  app.get<{ Params: Static<typeof ProcessParams> }>(
    "/processes/:process",
    {
      schema: { tags, summary: "Inputs and outputs of a process", params: ProcessParams, response: RESPONSES.process },
    },
    ({ params }) => ({
      ...findProcess(params.process),
      links: [
        link("self", `/processes/${params.process}`),
        link("http://www.opengis.net/def/rel/ogc/1.0/execute", `/processes/${params.process}/execution`),
      ],
    }),
  );
  app.post<{ Params: Static<typeof ProcessParams>; Body: Static<typeof ExecuteBody> }>(
    "/processes/:process/execution",
    {
      schema: {
        tags,
        summary: "Register or deregister; waits for the end unless `Prefer: respond-async` is sent",
        params: ProcessParams,
        body: ExecuteBody,
        response: RESPONSES.execution,
      },
    },
    async (request, reply) => {
      const { id: process } = findProcess(request.params.process);
      const { id } = await accept(request, toRequest(process, request.body.inputs, context.catalogueUrl));
      void reply.header("location", `${publicUrl}/jobs/${id}`);
      const asynchronous = isAsync(request);
      const task = await (asynchronous ? findTask(context.pool, id) : awaitTask(context.pool, id, SYNC_WAIT_MS));
      return answer(reply, task as Task, context, asynchronous);
    },
  );
}

function answer(reply: FastifyReply, task: Task, context: ApiContext, asynchronous: boolean): FastifyReply {
  if (asynchronous || task.state === "queued" || task.state === "running") {
    return reply.code(201).send(toJob(task, context));
  }
  return reply.send(toResults(task, context));
}

const isAsync = ({ headers }: FastifyRequest) =>
  [headers["prefer"] ?? []].flat().some((value) => /(^|,)\s*respond-async\s*(,|;|$)/i.test(value));

/** @throws {Problem} 404 */
function findProcess(id: string): (typeof PROCESSES)[number] {
  const found = PROCESSES.find((process) => process.id === id);
  if (found === undefined) {
    const names = PROCESSES.map((process) => process.id).join(" and ");
    throw new Problem(404, `There is no process "${id.slice(0, 100)}"; there are ${names}.`, { type: NO_SUCH_PROCESS });
  }
  return found;
}

/** @throws {Problem} 400 for inputs that say nothing that can be done */
function toRequest(process: ProcessId, inputs: Inputs, catalogueUrl: string): RegistrationRequest {
  const { type, source, id, target } = inputs;
  if (target !== undefined && catalogueUrl !== "" && !isCatalogue(target.href, catalogueUrl)) {
    throw new Problem(
      400,
      `Records go to the catalogue of this platform, ${catalogueUrl}/stac; "target" names another.`,
    );
  }
  if (process === "deregister") {
    if (id === undefined && source === undefined) {
      throw new Problem(400, 'Name what is to be taken out: the input "id" or "source".');
    }
    return { form: "deregister", ...(id !== undefined ? { identifier: id } : { url: source!.href }) };
  }
  if (type === undefined || source === undefined) {
    throw new Problem(400, 'The inputs "type" and "source" are required.');
  }
  const known = toRegistrationType(type);
  if (known === undefined) {
    const allowed = PROCESSES[0].inputs.type.schema.enum.join(", ");
    throw new Problem(400, `"${type}" cannot be registered; allowed: ${allowed}.`);
  }
  return { form: "register", type: known, url: source.href };
}

/**
 * Whether an address is on the catalogue's host or on the one where it is open, whatever the scheme: platforms without TLS are named with https by
 * habit.
 */
function isCatalogue(href: string, url: string): boolean {
  const { hostname } = new URL(url);
  return URL.canParse(href) && [hostname, hostname.replace(/^[^.]+/, "$&-open")].includes(new URL(href).hostname);
}
