import { type StacItem, isStac, parseStac } from "@swath/stac";
import { repairGeometry } from "@swath/stac/repair-geometry";

import { RegistrationError } from "../queue/errors.ts";
import type { Registrar } from "../queue/run-task.ts";
import { normalizeItem } from "./normalize-item.ts";
import { type Tools, defaultCollection } from "./registrar-context.ts";
import { prepareCollection } from "./stac.ts";
import { writeBatch } from "./write-batch.ts";

type Json = Readonly<Record<string, unknown>>;

/** Registers a document that came with the request: a STAC item or collection, or an OGC record. */
export function createDocumentRegistrar(tools: Tools): Registrar {
  return async (context) => {
    const { task } = context;
    const document = (task.payload["document"] ?? {}) as Json;
    const origin = { scope: task.scope, sequence: task.id };
    if (typeof document["id"] !== "string" || document["id"] === "") {
      throw new RegistrationError("The document has no id; give it one.");
    }
    if (task.kind === "collection" && document["type"] !== "Collection") {
      throw new RegistrationError(`${document["id"]} is not a STAC Collection: its type must be Collection.`);
    }
    if (isStac(document)) {
      const object = readStac(document);
      if (object.type === "Collection") {
        const { outcome, id } = await tools.writer.writeCollection(origin, prepareCollection(object, ""));
        context.count({ [outcome]: 1 });
        context.noteRecord(id);
        return;
      }
      if (object.type === "Feature") {
        const item: StacItem = object;
        const collection = item.collection ?? defaultCollection(task.scope);
        await writeBatch(tools, context, { origin, collection, batch: [{ item: normalizeItem(item, "") }] });
        return;
      }
      throw new RegistrationError(
        `${document["id"]} is a ${object.type}; send a STAC Item, a STAC Collection or an OGC record.`,
      );
    }
    const record = { ...document, ...("geometry" in document && { geometry: repairGeometry(document["geometry"]) }) };
    const outcome = await tools.writer.writeRecord(origin, record as Json & { id: string });
    context.count({ [outcome]: 1 });
    context.noteRecord(document["id"]);
  };
}

function readStac(document: Json): ReturnType<typeof parseStac> {
  try {
    return parseStac(document, String(document["id"]));
  } catch (error) {
    throw new RegistrationError((error as Error).message, { cause: error });
  }
}
