import type { FastifyInstance, FastifyRequest } from "fastify";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import {
  OgcError,
  duplicatedProcess,
  immutableProcess,
  invalidParameter,
  noSuchProcess,
  unsupportedMediaType,
} from "../errors.ts";
import { allowedPrivate } from "../execution/storage.ts";
import { type ProcessDescription, describePackage } from "../packages/describe.ts";
import { fetchPackage } from "../packages/fetch-package.ts";
import { checkPackage } from "../packages/load-package.ts";
import { ECHO } from "../packages/echo.ts";
import {
  type NewProcess,
  deleteProcess,
  findProcess,
  insertProcess,
  listProcesses,
  replaceProcess,
} from "../store/processes.ts";
import { type ApiContext, type Face, type Space, link, spaceOf } from "./context.ts";

const CWL_TYPES = ["application/cwl", "application/cwl+yaml", "application/x-yaml", "text/yaml"];
const PACKAGE_TYPES = ["application/json", "application/ogcapppkg+json"];

/** Listing, deploying, describing, replacing and undeploying (OGC 18-062r2 §7.9, §7.10; OGC 20-044). */
export function addProcessRoutes(app: FastifyInstance, context: ApiContext, face: Face): void {
  const { db } = context;
  const tags = ["processes"];
  const path = `/:user/${face}/processes`;

  app.get(path, { schema: { tags, summary: "Processes that may be executed" } }, async (request) => {
    const space = spaceOf(request, face);
    const { limit, skip } = readPage(request);
    const all = [
      ECHO,
      ...(await listProcesses(db, space.user)).map(({ description }) => description as ProcessDescription),
    ];
    return {
      processes: all.slice(skip, skip + limit).map((description) => toSummary(description, space)),
      links: [link(`${space.base}/processes`, "self", "Processes")],
      numberTotal: all.length,
    };
  });

  app.post(
    path,
    { schema: { tags, summary: "Deploy a process from an application package" } },
    async (request, reply) => {
      const space = spaceOf(request, face);
      const process = await readPackage(context, space, request);
      const { id } = process.description;
      const location = `${space.base}/processes/${id}`;
      if (id === ECHO.id || !(await insertProcess(db, process))) {
        throw duplicatedProcess(id, location);
      }
      return reply.code(201).header("location", location).send(toSummary(process.description, space));
    },
  );

  app.get(`${path}/:id`, { schema: { tags, summary: "A process with its inputs and outputs" } }, async (request) => {
    const space = spaceOf(request, face);
    const description = await findDescription(context, space, idOf(request));
    return {
      ...toSummary(description, space),
      inputs: description.inputs,
      outputs: description.outputs,
      links: [
        link(`${space.base}/processes/${description.id}`, "self", description.title),
        link(
          `${space.base}/processes/${description.id}/execution`,
          "http://www.opengis.net/def/rel/ogc/1.0/execute",
          "Execute",
        ),
      ],
    };
  });

  app.get(
    `${path}/:id/package`,
    { schema: { tags, summary: "The application package of a process" } },
    async (request, reply) => {
      const found = await findProcess(db, spaceOf(request, face).user, idOf(request));
      if (found === undefined) {
        throw noSuchProcess(idOf(request));
      }
      return reply.type("application/cwl+yaml").send(found.package);
    },
  );

  app.put(
    `${path}/:id`,
    { schema: { tags, summary: "Replace a process; running jobs go on with the former one" } },
    async (request, reply) => {
      const space = spaceOf(request, face);
      const id = idOf(request);
      await requireMutable(context, space, id);
      const process = await readPackage(context, space, request);
      if (process.description.id !== id) {
        throw invalidParameter(`The package is of process ${process.description.id}, not of ${id}.`);
      }
      await replaceProcess(db, process);
      return reply.code(204).header("location", `${space.base}/processes/${id}`).send();
    },
  );

  app.delete(`${path}/:id`, { schema: { tags, summary: "Undeploy a process" } }, async (request, reply) => {
    const space = spaceOf(request, face);
    const id = idOf(request);
    await requireMutable(context, space, id);
    await deleteProcess(db, space.user, id);
    return reply.code(204).send();
  });
}

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id;

/** @throws {OgcError} 403 for a built-in process, 404 for one that is not there */
async function requireMutable({ db }: ApiContext, { user }: Space, id: string): Promise<void> {
  if (id === ECHO.id) {
    throw immutableProcess(id);
  }
  if ((await findProcess(db, user, id)) === undefined) {
    throw noSuchProcess(id);
  }
}

/** @throws {OgcError} 404 */
export async function findDescription({ db }: ApiContext, { user }: Space, id: string): Promise<ProcessDescription> {
  if (id === ECHO.id) {
    return ECHO;
  }
  const found = await findProcess(db, user, id);
  if (found === undefined) {
    throw noSuchProcess(id);
  }
  return found.description as ProcessDescription;
}

async function readPackage(context: ApiContext, { user }: Space, request: FastifyRequest): Promise<NewProcess> {
  const { text, reference, workflow } = await readPackageText(context, request);
  const document = await checkPackage(text, workflow);
  return { owner: user, description: describePackage(document), package: text, reference };
}

/** The package of a request, unchecked: CWL itself, or where it is (OGC 20-044 requirements /req/ogcapppkg, /req/cwl). */
export async function readPackageText(context: ApiContext, request: FastifyRequest): Promise<PackageText> {
  const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const { w } = request.query as { w?: string };
  return CWL_TYPES.includes(type)
    ? { text: String(request.body), reference: "inline", workflow: w }
    : PACKAGE_TYPES.includes(type)
      ? readUnit(context, request.body, w)
      : refuseType(type);
}

function refuseType(type: string): never {
  throw unsupportedMediaType(type, [...PACKAGE_TYPES, ...CWL_TYPES]);
}

interface Unit {
  readonly href?: unknown;
  readonly value?: unknown;
}

interface PackageText {
  readonly text: string;
  /** Where it came from. */
  readonly reference: string;
  /** Which workflow is meant, where it has several. */
  readonly workflow: string | undefined;
}

async function readUnit({ settings }: ApiContext, body: unknown, w: string | undefined): Promise<PackageText> {
  const { executionUnit } = (typeof body === "object" && body !== null ? body : {}) as {
    executionUnit?: Unit | Unit[];
  };
  const unit = Array.isArray(executionUnit) ? executionUnit[0] : executionUnit;
  if (unit === undefined) {
    throw invalidParameter(
      'executionUnit is missing: {"executionUnit": {"href": "https://…/package.cwl#workflow", "type": "application/cwl"}}',
    );
  }
  if (unit.value !== undefined) {
    const text = typeof unit.value === "string" ? unit.value : JSON.stringify(unit.value);
    return { text, reference: "inline", workflow: w };
  }
  if (typeof unit.href !== "string") {
    throw invalidParameter("executionUnit needs href, the address of the package, or value, the package itself");
  }
  const [href = "", fragment] = unit.href.startsWith("data:") ? [unit.href] : unit.href.split("#", 2);
  const folder = join(settings.DATA_DIR, "packages");
  await mkdir(folder, { recursive: true });
  const text = await fetchPackage(href, folder, { allowPrivate: allowedPrivate(settings), internal: [], s3: [] });
  return { text, reference: unit.href, workflow: w ?? fragment };
}

function toSummary(description: ProcessDescription, { base }: Space) {
  const { inputs: _inputs, outputs: _outputs, ...summary } = description;
  return { ...summary, links: [link(`${base}/processes/${description.id}`, "self", description.title)] };
}

/** `limit` and `skip` (also `offset`). @throws {OgcError} 400 */
export function readPage(request: FastifyRequest): { readonly limit: number; readonly skip: number } {
  const query = request.query as Record<string, string | undefined>;
  const read = (name: string, text: string | undefined, fallback: number, minimum: number, maximum: number) => {
    if (text === undefined || text === "") {
      return fallback;
    }
    const value = Number(text);
    if (!Number.isInteger(value) || value < minimum) {
      throw new OgcError(
        400,
        "InvalidQueryParameterValue",
        `${name} is ${JSON.stringify(text)}; allowed: ${minimum} to ${maximum}.`,
        {
          type: "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/invalid-query-parameter-value",
        },
      );
    }
    return Math.min(value, maximum);
  };
  return {
    limit: read("limit", query["limit"], 1000, 1, 10_000),
    skip: read("skip", query["skip"] ?? query["offset"], 0, 0, 1_000_000_000),
  };
}
