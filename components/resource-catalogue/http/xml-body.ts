import type { FastifyInstance } from "fastify";

import type { NewRecord } from "../model/record.ts";
import { RecordError } from "../model/xml-record.ts";
import { XmlError } from "../xml/xml-error.ts";
import { problem } from "./errors.ts";

const TYPES = ["application/xml", "text/xml", "application/gml+xml", "application/vnd.iso.19139+xml"] as const;

/** A record that came as XML. */
export class XmlBody {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** Bodies of XML come to routes of this scope as `XmlBody`. */
export function addXmlBodies(scope: FastifyInstance): void {
  for (const type of TYPES) {
    scope.addContentTypeParser(type, { parseAs: "buffer" }, (_request, body, done) => {
      done(null, new XmlBody(body as Buffer));
    });
  }
}

/** The record of an ISO 19139 or Dublin Core document. @throws {Problem} 400 saying what is wrong with it */
export async function prepareXml({ bytes }: XmlBody): Promise<NewRecord> {
  try {
    // Loaded when the first one comes: most catalogues get none.
    const [{ readXml }, { xmlToRecord }] = await Promise.all([
      import("../xml/read.ts"),
      import("../model/from-xml.ts"),
    ]);
    const { root } = await readXml(bytes);
    return xmlToRecord(root, bytes);
  } catch (error) {
    if (error instanceof XmlError || error instanceof RecordError) {
      throw problem(400, "InvalidDocument", `The record ${error.message.replace(/\.$/, "")}.`);
    }
    throw error;
  }
}
