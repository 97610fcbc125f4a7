import type { FastifyInstance } from "fastify";

import { noSuchProcess } from "../errors.ts";
import { ECHO } from "../packages/echo.ts";
import { type ApiContext, type ApiFlavor, packageOf, apiPathOf } from "./context.ts";
import { findDeployed } from "./find-deployed.ts";
import { checkPackageText, readPackageText } from "./read-package.ts";
import { checkPackage, readGraph } from "./schemas/processes.ts";

/** What people look at before they deploy a package, and afterwards: its mistakes, its inputs, its picture. */
export function addPackageRoutes(app: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  app.post(`/:user/${apiFlavor}/packages/check`, { schema: checkPackage }, async (request) => {
    const { user } = apiPathOf(request, apiFlavor);
    const sent = await readPackageText(context, user, request);
    const { text, reference } = sent;
    const { checked } = await checkPackageText(context, user, sent, true);
    const { workflows, problems, facts, graph } = checked;
    return {
      valid: facts !== undefined,
      reference,
      workflows,
      problems,
      ...(facts !== undefined && { process: facts.description, graph }),
      package: text,
    };
  });

  app.get(`/:user/${apiFlavor}/processes/:id/graph`, { schema: readGraph }, async (request) => {
    const { id } = request.params as { id: string };
    if (id === ECHO.id) {
      return { nodes: [], edges: [] };
    }
    const { user } = apiPathOf(request, apiFlavor);
    const found = await findDeployed(context, user, id);
    if (found === undefined) {
      throw noSuchProcess(id);
    }
    return context.packages.read("graph", user, packageOf(found));
  });
}
