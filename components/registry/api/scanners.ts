import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { REPORT_TYPE } from "../scans/adapter.ts";
import { addAudit } from "../store/audit.ts";
import {
  AUTHS,
  type Scanner,
  type ScannerValues,
  deleteScanner,
  findScanner,
  findScannerOf,
  insertScanner,
  listScanners,
  setDefaultScanner,
  updateScanner,
} from "../store/scanners.ts";
import { type Scan, findReport, findScan, requestScan } from "../store/scans.ts";
import { ARTIFACT, requireArtifact } from "./artifacts.ts";
import { type ApiContext, requireAdmin, requireProject } from "./context.ts";

const Body = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  url: Type.String({ maxLength: 1000 }),
  auth: Type.Optional(Type.Enum([...AUTHS])),
  access_credential: Type.Optional(Type.String({ maxLength: 4096, pattern: "^[\\x20-\\x7e]*$" })),
  disabled: Type.Optional(Type.Boolean()),
  skip_certVerify: Type.Optional(Type.Literal(false)),
  use_internal_addr: Type.Optional(Type.Boolean()),
});
/** Harbor has this one change. */
const Change = Type.Object({ is_default: Type.Literal(true) }, { additionalProperties: false });
const Choice = Type.Object({ uuid: Type.String({ pattern: "^\\d{1,18}$" }) });

/** Scanners that speak the pluggable scanner API; none is built in. */
export function addScannerRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database, scanners } = context;
  const find = async (request: FastifyRequest): Promise<Scanner> => {
    const { scanner } = request.params as { scanner: string };
    const found = /^\d{1,18}$/.test(scanner) ? await findScanner(database, scanner) : undefined;
    if (found === undefined) {
      throw new Problem(404, "The scanner does not exist.");
    }
    return found;
  };
  const audit = (actor: string, operation: string, resource: string) =>
    addAudit(database, { actor, operation, project: "", resourceType: "scanner", resource });
  const toValues = (body: Static<typeof Body>, before?: Scanner): ScannerValues => {
    const url = URL.parse(body.url);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
      throw new Problem(400, "url must be the http or https address of a scanner's adapter, without a login.");
    }
    const { auth = "", access_credential: credential } = body;
    // A credential is for the address that it was given for.
    const kept = before?.url === url.href && before.auth === auth ? before.sealedCredential : undefined;
    return {
      name: body.name,
      description: body.description ?? "",
      url: url.href,
      auth,
      sealedCredential: credential ? scanners.seal(credential, url.href) : kept,
      isDisabled: body.disabled ?? false,
    };
  };
  const readMetadata = (scanner: Scanner) =>
    scanners.readMetadata(scanner).catch((error: unknown) => {
      throw new Problem(502, `The scanner ${scanner.name} does not answer as it should: ${(error as Error).message}`);
    });

  app.get("/scanners", async (request) => {
    await requireAdmin(context, request);
    return (await listScanners(database)).map(toScannerJson);
  });
  app.post("/scanners", { schema: { body: Body } }, async (request, reply) => {
    const { name: actor } = await requireAdmin(context, request);
    const values = toValues(request.body as Static<typeof Body>);
    const id = await insertScanner(database, values);
    if (id === undefined) {
      throw new Problem(409, `A scanner ${values.name} already exists.`);
    }
    await audit(actor, "create", values.name);
    return reply.code(201).header("location", `/api/v2.0/scanners/${id}`).send();
  });
  app.get("/scanners/:scanner", async (request) => {
    await requireAdmin(context, request);
    return toScannerJson(await find(request));
  });
  app.put("/scanners/:scanner", { schema: { body: Body } }, async (request) => {
    const { name: actor } = await requireAdmin(context, request);
    const before = await find(request);
    const values = toValues(request.body as Static<typeof Body>, before);
    if (!(await updateScanner(database, before.id, values))) {
      throw new Problem(409, `A scanner ${values.name} already exists.`);
    }
    await audit(actor, "update", values.name);
    return {};
  });
  app.patch("/scanners/:scanner", { schema: { body: Change } }, async (request) => {
    const { name: actor } = await requireAdmin(context, request);
    const { id, name } = await find(request);
    await database.transact((tx) => setDefaultScanner(tx, id));
    await audit(actor, "update", name);
    return {};
  });
  app.delete("/scanners/:scanner", async (request) => {
    const { name: actor } = await requireAdmin(context, request);
    const scanner = await find(request);
    await deleteScanner(database, scanner.id);
    await audit(actor, "delete", scanner.name);
    return toScannerJson(scanner);
  });
  app.get("/scanners/:scanner/metadata", async (request) => {
    await requireAdmin(context, request);
    return readMetadata(await find(request));
  });

  app.get("/projects/:project/scanner", async (request) => {
    const { project } = await requireProject(context, request, "pull");
    const scanner = await findScannerOf(database, project.id);
    return scanner === undefined ? {} : { ...toScannerJson(scanner), url: undefined };
  });
  app.put("/projects/:project/scanner", { schema: { body: Choice } }, async (request) => {
    const { project, principal } = await requireProject(context, request, "admin");
    const scanner = await findScanner(database, (request.body as Static<typeof Choice>).uuid);
    if (scanner === undefined) {
      throw new Problem(404, "The scanner does not exist.");
    }
    await database.query("update project set scanner_id = $2 where id = $1", [project.id, scanner.id]);
    const entry = { actor: principal.name, operation: "update", project: project.name };
    await addAudit(database, { ...entry, resourceType: "scanner", resource: scanner.name });
    return {};
  });

  app.post(`${ARTIFACT}/scan`, async (request, reply) => {
    const { artifact, project, principal, ...access } = await requireArtifact(context, request, "push");
    const scanner = await findScannerOf(database, project.id);
    if (scanner === undefined) {
      throw new Problem(412, "No scanner is connected; an administrator of the registry adds one.");
    }
    const { repositoryId, repository } = access;
    const { digest } = artifact;
    await requestScan(database, { repositoryId, digest, scannerId: scanner.id, by: principal.name });
    const entry = { actor: principal.name, operation: "scan", project: project.name };
    await addAudit(database, { ...entry, resourceType: "artifact", resource: `${repository}@${digest}` });
    return reply.code(202).send({});
  });
  // How far the scan is, and what it found in a line.
  app.get(`${ARTIFACT}/scan`, async (request) => {
    const { artifact, repositoryId } = await requireArtifact(context, request, "pull");
    const found = await findScan(database, { repositoryId, digest: artifact.digest });
    return found === undefined ? {} : { [REPORT_TYPE]: toOverviewJson(found) };
  });
  app.get(`${ARTIFACT}/additions/vulnerabilities`, async (request) => {
    const { artifact, repositoryId } = await requireArtifact(context, request, "pull");
    const report = await findReport(database, { repositoryId, digest: artifact.digest });
    if (report === undefined) {
      throw new Problem(404, "The artifact was not scanned.");
    }
    return { [REPORT_TYPE]: report };
  });
}

/** The credential is told to the scanner alone. */
function toScannerJson(scanner: Scanner) {
  return {
    uuid: scanner.id,
    name: scanner.name,
    description: scanner.description,
    url: scanner.url,
    auth: scanner.auth,
    ...(scanner.sealedCredential !== undefined && { access_credential: "[HIDDEN]" }),
    disabled: scanner.isDisabled,
    is_default: scanner.isDefault,
    create_time: scanner.createdAt.toISOString(),
    update_time: scanner.updatedAt.toISOString(),
  };
}

const STATES = { waiting: "Pending", running: "Running", succeeded: "Success", failed: "Error" } as const;

function toOverviewJson(scan: Scan) {
  const summary = scan.summary ?? {};
  return {
    scan_status: STATES[scan.state],
    scanner: { name: scan.scanner },
    severity: scan.severity ?? null,
    summary: { total: Object.values(summary).reduce((sum, count) => sum + count, 0), summary },
    failure: scan.failure ?? null,
    start_time: scan.requestedAt.toISOString(),
    end_time: scan.endedAt?.toISOString() ?? null,
  };
}
