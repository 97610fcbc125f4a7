import { graphOf, validateDocument } from "@swath/cwl";
import type { FastifyInstance } from "fastify";

import { noSuchProcess } from "../errors.ts";
import { describePackage } from "../packages/describe.ts";
import { ECHO } from "../packages/echo.ts";
import { BASE, findMainWorkflow, findWorkflows, loadPackage } from "../packages/load-package.ts";
import { findProcess } from "../store/processes.ts";
import { type ApiContext, type Face, spaceOf } from "./context.ts";
import { readPackageText } from "./read-package.ts";
import { checkPackage, readGraph } from "./schemas/processes.ts";

/** What people look at before they deploy a package, and afterwards: its mistakes, its inputs, its picture. */
export function addPackageRoutes(app: FastifyInstance, context: ApiContext, face: Face): void {
  app.post(`/:user/${face}/packages/check`, { schema: checkPackage }, async (request) => {
    const { text, reference, workflow } = await readPackageText(context, spaceOf(request, face).user, request);
    const workflows = findWorkflows(text);
    const wanted = workflow ?? findMainWorkflow(workflows);
    const { valid, problems, document } = await validateDocument(wanted === undefined ? BASE : `${BASE}#${wanted}`, {
      text,
      localFiles: false,
      applicationPackage: true,
    });
    return {
      valid,
      reference,
      workflows,
      problems: problems.map(({ file: _file, ...problem }) => problem),
      ...(document !== undefined && { process: describePackage(document), graph: graphOf(document) }),
      package: text,
    };
  });

  app.get(`/:user/${face}/processes/:id/graph`, { schema: readGraph }, async (request) => {
    const { id } = request.params as { id: string };
    if (id === ECHO.id) {
      return { nodes: [], edges: [] };
    }
    const found = await findProcess(context.db, spaceOf(request, face).user, id);
    if (found === undefined) {
      throw noSuchProcess(id);
    }
    return graphOf(await loadPackage(found.package, found.entry ?? id));
  });
}
