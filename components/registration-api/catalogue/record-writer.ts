import { hash } from "node:crypto";

import { inTransaction } from "@swath/postgres/pool";
import type { StacCollection } from "@swath/stac";
import type pg from "pg";

import { RegistrationError } from "../queue/errors.ts";
import { type Origin, noteChanges } from "../store/records.ts";
import { type CatalogueClient, type CatalogueResponse, describeRefusal } from "./client.ts";
import type { Collections } from "./collections.ts";

type Json = Readonly<Record<string, unknown>>;

/** What came of one document. */
export type RecordOutcome = "registered" | "unchanged";

export interface RecordWriter {
  /** Writes an OGC record to the collection of records that belong to no other. */
  readonly writeRecord: (origin: Origin, record: Json & { readonly id: string }) => Promise<RecordOutcome>;
  /** Writes ISO 19139 or Dublin Core as it came. */
  readonly writeXml: (origin: Origin, id: string, xml: string) => Promise<RecordOutcome>;
  /** Writes what a collection says of itself. @returns its id in the catalogue */
  readonly writeCollection: (
    origin: Origin,
    collection: StacCollection,
  ) => Promise<{ readonly id: string; readonly outcome: RecordOutcome }>;
}

export function createRecordWriter(
  { pool, client }: { readonly pool: pg.Pool; readonly client: CatalogueClient },
  collections: Collections,
): RecordWriter {
  /** Writes one document under the rules of the ledger. */
  const write = async (
    origin: Origin & { readonly collection: string },
    { id, text, path }: { id: string; text: string; path: string },
    send: (exists: boolean) => Promise<CatalogueResponse>,
  ): Promise<RecordOutcome> =>
    inTransaction(pool, async (db) => {
      const [verdict] = await noteChanges(db, [{ id, hash: hash("sha256", text, "buffer") }], origin);
      if (verdict === "superseded") {
        return "unchanged";
      }
      const exists = (await client.send(origin.scope, "GET", path)).status === 200;
      if (verdict === "unchanged" && exists) {
        return "unchanged";
      }
      const response = await send(exists);
      if (response.status >= 300 || isException(response)) {
        throw new RegistrationError(`${id} cannot be registered: ${describeRefusal(response)}`);
      }
      return "registered";
    });
  const mainOf = async (scope: string): Promise<string> =>
    scope === "" ? "metadata:main" : collections.ensure(scope, `metadata:${scope}`, []);

  return {
    writeRecord: async (origin, record) => {
      const collection = await mainOf(origin.scope);
      const items = `/collections/${encodeURIComponent(collection)}/items`;
      const path = `${items}/${encodeURIComponent(record.id)}`;
      return write({ ...origin, collection }, { id: record.id, text: JSON.stringify(record), path }, (exists) =>
        client.send(origin.scope, exists ? "PUT" : "POST", exists ? path : items, record),
      );
    },
    writeXml: async (origin, id, xml) => {
      const collection = await mainOf(origin.scope);
      const path = `/collections/${encodeURIComponent(collection)}/items/${encodeURIComponent(id)}`;
      return write({ ...origin, collection }, { id, text: xml, path }, (exists) => {
        const action = exists ? "Update" : "Insert";
        const record = xml.replace(/^\uFEFF?\s*<\?xml[^?]*\?>/, "");
        return client.sendXml(
          origin.scope,
          `<csw:Transaction xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" service="CSW" version="2.0.2"><csw:${action}>${record}</csw:${action}></csw:Transaction>`,
        );
      });
    },
    writeCollection: async (origin, collection) => {
      const { id, isNew } = await collections.claim(origin.scope, collection);
      const document = { ...collection, id };
      const outcome = await inTransaction(pool, async (db): Promise<RecordOutcome> => {
        const digest = hash("sha256", JSON.stringify(document), "buffer");
        const [verdict] = await noteChanges(db, [{ id, hash: digest }], { ...origin, collection: "" });
        if (isNew) {
          return "registered";
        }
        if (verdict !== "write") {
          return "unchanged";
        }
        await collections.replace(origin.scope, document);
        return "registered";
      });
      return { id, outcome };
    },
  };
}

/** CSW says with status 200 what a client did wrong. */
const isException = ({ body }: CatalogueResponse): boolean =>
  typeof body === "string" && /<(?:\w+:)?ExceptionReport/.test(body);
