import { ProductError, convertApplication, readXmlId } from "@swath/products";

import { RegistrationError } from "../queue/errors.ts";
import type { Registrar } from "../queue/run-task.ts";
import { type Tools, readAddressRequest } from "./registrar-context.ts";

/** Registers a metadata record in XML as it is, from an address or as it was sent. */
export function createXmlRegistrar(tools: Tools): Registrar {
  return async (context) => {
    const { url, rights, origin: addressed } = readAddressRequest(context, tools);
    const { xml } = context.task.payload as { xml?: unknown };
    const isSent = typeof xml === "string";
    const bytes = isSent
      ? Buffer.from(xml)
      : (await tools.sources.read(url, { rights, signal: context.signal, accept: "application/xml" })).bytes;
    const { source: _source, ...own } = addressed;
    const origin = isSent ? own : addressed;
    const id = await refuse(() => readXmlId(bytes, isSent ? "The record" : url));
    const outcome = await tools.writer.writeXml(origin, id, bytes.toString("utf8"));
    context.count({ [outcome]: 1 });
    context.noteRecord(id);
  };
}

/** Registers an application package: what its workflow says of itself, the package, and the way to run it. */
export function createApplicationRegistrar(tools: Tools): Registrar {
  return async (context) => {
    const { url, rights, origin } = readAddressRequest(context, tools);
    const { bytes } = await tools.sources.read(url.replace(/#.*$/s, ""), { rights, signal: context.signal });
    const record = await refuse(() => convertApplication(bytes, url));
    const run =
      tools.portalUrl === undefined
        ? undefined
        : `${tools.portalUrl}/processing/deploy?package=${encodeURIComponent(url)}`;
    const outcome = await tools.writer.writeRecord(origin, {
      ...record,
      links: [
        ...record.links,
        ...(run === undefined ? [] : [{ rel: "related", href: run, type: "text/html", title: "Run" }]),
      ],
    });
    context.count({ [outcome]: 1 });
    context.noteRecord(record.id);
  };
}

/** What is wrong with a document is no reason to try again. */
async function refuse<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof ProductError ? new RegistrationError(error.message, { cause: error }) : error;
  }
}
