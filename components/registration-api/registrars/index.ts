import { createHarvestRegistrar } from "../harvest/run.ts";
import type { Registrar } from "../queue/run-task.ts";
import { createDeregisterRegistrar } from "./deregister.ts";
import { createDocumentRegistrar } from "./documents.ts";
import { createApplicationRegistrar, createXmlRegistrar } from "./records.ts";
import type { Tools } from "./registrar-context.ts";
import { createCatalogueRegistrar, createServiceRegistrar } from "./services.ts";
import { createStacRegistrar } from "./stac.ts";

/** The registrar of each kind of task. */
export function createRegistrars(tools: Tools): ReadonlyMap<string, Registrar> {
  const documents = createDocumentRegistrar(tools);
  return new Map([
    ["stac", createStacRegistrar(tools)],
    ["collection", documents],
    ["json", documents],
    ["xml", createXmlRegistrar(tools)],
    ["application", createApplicationRegistrar(tools)],
    ["service", createServiceRegistrar(tools)],
    ["catalogue", createCatalogueRegistrar(tools)],
    ["harvest", createHarvestRegistrar(tools)],
    ["deregister", createDeregisterRegistrar(tools)],
  ]);
}
