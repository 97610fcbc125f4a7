import type { FastifyInstance } from "fastify";
import Negotiator from "negotiator";

import { duplicatedProcess, immutableProcess, invalidParameter, invalidQuery, noSuchProcess } from "../errors.ts";
import type { ProcessDescription } from "../packages/describe.ts";
import { ECHO } from "../packages/echo.ts";
import { processListPage, processPage } from "../pages/process-pages.ts";
import {
  type StoredProcess,
  deleteProcess,
  findProcess,
  PROCESS_SORTS,
  insertProcess,
  listVersions,
  rollBack,
  listProcesses,
  replaceProcess,
} from "../store/processes.ts";
import { answer } from "./answer.ts";
import {
  type ApiContext,
  type ApiFlavor,
  type Link,
  OGC_REL,
  type Place,
  type ApiBase,
  resolveApiBase,
  isEarlierLine,
  link,
  locationOf,
  apiPathOf,
} from "./context.ts";
import { findDeployed } from "./find-deployed.ts";
import { formLinks, pageLinks } from "./page-links.ts";
import { readPage } from "./read-query.ts";
import { readBundle } from "../packages/bundle.ts";
import { withVersionedId } from "../packages/versioned-id.ts";
import { readPackage, requirePackageType } from "./read-package.ts";
import * as schemas from "./schemas/processes.ts";

/** Listing, deploying, describing, replacing and undeploying (OGC 18-062r2 §7.9, §7.10; OGC 20-044). */
export function addProcessRoutes(app: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  const { db } = context;
  const path = `/:user/${apiFlavor}/processes`;

  app.get(path, { schema: schemas.listProcesses }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const { limit, skip } = readPage(request, 1000);
    const { q: search, sortby: sort } = request.query as { readonly q?: string; readonly sortby?: ProcessSort };
    if (sort !== undefined && !PROCESS_SORTS.includes(sort)) {
      throw invalidQuery("sortby", String(sort), PROCESS_SORTS.join(", "));
    }
    // The built-in process is the first of the list, where nobody looks for another.
    const isShown =
      search === undefined ||
      `${ECHO.id} ${ECHO.title} ${ECHO.description}`.toLowerCase().includes(String(search).toLowerCase());
    const own = isShown ? 1 : 0;
    const builtIn = skip === 0 && isShown ? [ECHO] : [];
    const { descriptions, total } = await listProcesses(db, apiBase.user, {
      limit: limit - builtIn.length,
      skip: Math.max(0, skip - own),
      search: search === undefined ? undefined : String(search).slice(0, 200),
      sort,
    });
    const shown = [...builtIn, ...descriptions];
    const isMore = skip + shown.length < total + own;
    const body = {
      processes: shown.map((description) => toSummary(description, apiBase)),
      links: pageLinks(`${apiBase.url}/processes`, request, "Processes", {
        ...(isMore && { next: { limit, skip: skip + limit } }),
        ...(skip > 0 && { prev: { limit, skip: Math.max(0, skip - limit) } }),
      }),
      numberTotal: total + own,
    };
    return answer(request, reply, body, (list, url) => processListPage(list, apiBase, url));
  });

  app.post(path, { schema: schemas.deploy }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    context.deployments.count({ user: apiBase.user, address: request.ip });
    const { process: read, obstacle } = await readPackage(context, apiBase.user, request);
    const process = apiFlavor === "wps3" && isEarlierLine(context) ? withVersionedId(read) : read;
    const { description } = process;
    const { id } = description;
    if (id === ECHO.id) {
      throw immutableProcess(id);
    }
    const location = `${locationOf(apiBase)}/processes/${encodeURIComponent(id)}`;
    if (!(await insertProcess(db, process))) {
      throw duplicatedProcess(id, location);
    }
    // Not kept: an operator may mend it.
    const warnings = [
      ...(description.warnings ?? []),
      ...(obstacle === undefined ? [] : [`Until that is mended, executing this process is refused. ${obstacle}`]),
    ];
    const body = toSummary({ ...description, ...(warnings.length > 0 && { warnings }) }, apiBase);
    return reply.code(201).header("location", location).send(body);
  });

  app.get(`${path}/:id`, { schema: schemas.describeProcess }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const description = await findDescription(context, apiBase, idOf(request));
    const { inputs, outputs } = description;
    const body = { ...toSummary(description, apiBase), inputs, outputs, links: linksOf(description, apiBase) };
    return answer(request, reply, body, (process, url) => processPage(process, apiBase, url));
  });

  app.get(`${path}/:id/package`, { schema: schemas.readPackage }, async (request, reply) => {
    const id = idOf(request);
    if (id === ECHO.id) {
      throw immutableProcess(id);
    }
    const found = await findDeployed(context, apiPathOf(request, apiFlavor).user, id);
    if (found === undefined) {
      throw noSuchProcess(id);
    }
    const { f } = request.query as { f?: string };
    const form = choosePackageType(f, request.headers);
    const { text } = readBundle(found.package);
    const value = form === "yaml" ? undefined : await context.packages.read("convert", found.owner, { text });
    const { type, body } = toPackage({ ...found, package: text }, form, value);
    return reply.header("vary", "Accept, Origin").type(type).send(body);
  });

  app.get(`${path}/:id/versions`, { schema: schemas.listVersions }, async (request) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const { id } = await requireMutable(context, apiBase, idOf(request));
    return {
      versions: (await listVersions(db, apiBase.user, id)).map(({ version, name, current, deployed_at: deployed }) => ({
        id: `${id}:${name}`,
        version: name,
        number: version,
        current,
        deployed: deployed.toISOString(),
        links: [link(`${addressOf(`${id}:${version}`, apiBase)}`, "self", `Version ${name}`)],
      })),
    };
  });

  app.post(`${path}/:id/rollback`, { schema: schemas.rollBack }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const { id } = await requireMutable(context, apiBase, idOf(request));
    const { version } = (request.body ?? {}) as { readonly version?: unknown };
    if (typeof version !== "string" && typeof version !== "number") {
      throw invalidParameter('version is missing: {"version": "1.2"}, one of those that …/versions lists.');
    }
    const former = await findProcess(db, apiBase.user, `${id}:${version}`);
    if (former === undefined) {
      throw noSuchProcess(`${id}:${version}`);
    }
    await rollBack(db, former);
    return reply.send(toSummary(former.description as ProcessDescription, apiBase));
  });

  app.put(`${path}/:id`, { schema: schemas.replace }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    requirePackageType(request);
    context.deployments.count({ user: apiBase.user, address: request.ip });
    const former = await requireMutable(context, apiBase, idOf(request));
    const { id } = former;
    const { process } = await readPackage(context, apiBase.user, request);
    const provided = process.description.id;
    const isSame = provided === id || (former.entry !== null && provided === former.entry);
    if (!isSame) {
      throw invalidParameter(`The package is of process ${provided}, not of ${id}.`);
    }
    const replaced = await replaceProcess(db, {
      ...process,
      description: { ...process.description, id },
      ...(provided !== id && { entry: provided }),
    });
    if (!replaced) {
      throw noSuchProcess(id);
    }
    return reply
      .code(204)
      .header("location", `${locationOf(apiBase)}/processes/${encodeURIComponent(id)}`)
      .send();
  });

  app.delete(`${path}/:id`, { schema: schemas.undeploy }, async (request, reply) => {
    const apiBase = apiPathOf(request, apiFlavor);
    const { id } = await requireMutable(context, apiBase, idOf(request));
    if (!(await deleteProcess(db, apiBase.user, id))) {
      throw noSuchProcess(id);
    }
    return reply.code(204).send();
  });
}

type ProcessSort = (typeof PROCESS_SORTS)[number];

const idOf = (request: { readonly params: unknown }): string => (request.params as { id: string }).id;

/** @throws {OgcError} 403 for a built-in process, 404 for one that is not there */
async function requireMutable(context: ApiContext, { user }: Place, id: string): Promise<StoredProcess> {
  if (id === ECHO.id) {
    throw immutableProcess(id);
  }
  const found = await findDeployed(context, user, id);
  if (found === undefined) {
    throw noSuchProcess(id);
  }
  return found;
}

/** @throws {OgcError} 404 */
async function findDescription(context: ApiContext, { user }: Place, id: string): Promise<ProcessDescription> {
  if (id === ECHO.id) {
    return ECHO;
  }
  const found = await findDeployed(context, user, id);
  if (found === undefined) {
    throw noSuchProcess(id);
  }
  return found.description as ProcessDescription;
}

const addressOf = (id: string, { url }: ApiBase) => `${url}/processes/${encodeURIComponent(id)}`;

/** A process as a list shows it (OGC 18-062r2 §7.9.2, table 6; OGC 20-044 `mutable`). */
export function toSummary(description: ProcessDescription, apiBase: ApiBase) {
  const { inputs: _inputs, outputs: _outputs, ...summary } = description;
  return {
    ...summary,
    links: [
      link(addressOf(description.id, apiBase), "self", description.title),
      link(`${addressOf(description.id, apiBase)}?f=html`, "alternate", description.title, "text/html"),
    ],
  };
}

function linksOf({ id, title, mutable }: ProcessDescription, apiBase: ApiBase): readonly Link[] {
  const address = addressOf(id, apiBase);
  return [
    ...formLinks(address, title),
    link(`${address}/execution`, OGC_REL.execute, "Execute"),
    link(`${apiBase.url}/jobs?processID=${encodeURIComponent(id)}`, OGC_REL.jobs, "Jobs of this process"),
    ...(mutable
      ? [
          link(
            `${address}/package`,
            "http://www.opengis.net/def/rel/ogc/1.0/package",
            "Package",
            "application/cwl+yaml",
          ),
          link(`${address}/graph`, "http://www.opengis.net/def/rel/ogc/1.0/workflow", "Steps and what leads where"),
        ]
      : []),
    link(`${apiBase.url}/processes`, "up", "Processes"),
  ];
}

const PACKAGE_FORMS = {
  yaml: "application/cwl+yaml",
  json: "application/cwl+json",
  ogc: "application/ogcapppkg+json",
} as const;
type PackageForm = keyof typeof PACKAGE_FORMS;

/** @throws {OgcError} 400 */
function choosePackageType(f: string | undefined, headers: Readonly<Record<string, unknown>>): PackageForm {
  const forms = Object.entries(PACKAGE_FORMS) as [PackageForm, string][];
  if (f !== undefined) {
    const found = forms.find(([form, type]) => f === form || f.replace(" ", "+") === type);
    return found?.[0] ?? (f === "cwl" ? "yaml" : refuseForm(f));
  }
  const accepted = new Negotiator({ headers: headers as Record<string, string> }).mediaType([
    ...forms.map(([, type]) => type),
    "application/cwl",
    "application/json",
  ]);
  return forms.find(([, type]) => type === accepted)?.[0] ?? (accepted === "application/json" ? "json" : "yaml");
}

function refuseForm(f: string): never {
  throw invalidQuery("f", f, "yaml, json, ogc");
}

/** A package as it was given, or the same in another form (OGC 20-044 /req/deploy-replace-undeploy/package/response-body). */
function toPackage({ package: text, description, entry }: StoredProcess, form: PackageForm, value: unknown) {
  const type = PACKAGE_FORMS[form];
  if (form === "yaml") {
    return { type, body: text };
  }
  if (form === "json") {
    return { type, body: JSON.stringify(value, null, 2) };
  }
  const { inputs: _inputs, outputs: _outputs, ...process } = description as ProcessDescription;
  const unit = { mediaType: PACKAGE_FORMS.json, value };
  const body = { processDescription: { process }, executionUnit: unit, ...(entry !== null && { workflow: entry }) };
  return { type, body: JSON.stringify(body, null, 2) };
}
