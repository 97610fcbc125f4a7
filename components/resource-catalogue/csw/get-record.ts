import { readRecords, readSource } from "../store/read-record.ts";
import type { StoredRecord } from "../model/record.ts";
import { NS } from "../xml/namespaces.ts";
import type { CswCall, CswResponse } from "./context.ts";
import { readElementSet, readOutputSchema } from "./options.ts";
import { OwsError } from "./ows-error.ts";
import { renderRecords } from "./render-records.ts";
import { DIALECTS } from "./versions.ts";

/** Ids of one request at most. */
const MAX_IDS = 100;

/** GetRecordById (OGC 07-006r1 §10.9, OGC 12-176r7 §7.4): 3.0 sends the bare record, and 404 where there is none. */
export async function getRecordById(call: CswCall): Promise<CswResponse> {
  const { context, request, input } = call;
  const { version } = input;
  const schema = readOutputSchema(input);
  const set = readElementSet(input);
  const ids = readIds(call, version === "2.0.2");
  const found = await findAll(call, ids);
  if (version === "2.0.2") {
    const rendered = await renderRecords(context, request, found, { version, schema, set, areRoots: true });
    const { csw, schema: location } = DIALECTS[version];
    return {
      body: `<csw:GetRecordByIdResponse xmlns:csw="${csw}" xmlns:xsi="${NS.xsi}" xsi:schemaLocation="${csw} ${location}">${rendered.join("")}</csw:GetRecordByIdResponse>`,
    };
  }
  const [record] = found;
  if (record === undefined) {
    throw notFound(ids);
  }
  const [body = ""] = await renderRecords(context, request, [record], { version, schema, set, areRoots: true });
  return { body, ...(schema === NS.atom && { type: "application/atom+xml; charset=utf-8" }) };
}

/** GetRepositoryItem (OGC 07-006r1 §10.10): the record as it came, byte for byte. */
export async function getRepositoryItem(call: CswCall): Promise<CswResponse> {
  const ids = readIds(call, false);
  const [record] = await findAll(call, ids);
  if (record === undefined) {
    throw notFound(ids);
  }
  const { bytes, type } = await readSource(call.context.pool, record);
  return { body: bytes, type };
}

function readIds({ input: { parameters } }: CswCall, mayBeList: boolean): readonly string[] {
  const provided = parameters.get("id");
  if (provided === undefined || provided.trim() === "") {
    throw new OwsError("MissingParameterValue", "id", "The parameter id must be the identifier of a record.");
  }
  const ids = mayBeList ? provided.split(",").map((id) => id.trim()) : [provided.trim()];
  if (ids.length > MAX_IDS) {
    throw new OwsError("InvalidParameterValue", "id", `The parameter id must have at most ${MAX_IDS} identifiers.`);
  }
  return ids.filter((id) => !id.includes("\0"));
}

async function findAll({ context, request }: CswCall, ids: readonly string[]): Promise<readonly StoredRecord[]> {
  const reader = await context.readerOf(request);
  const found = await Promise.all(ids.map((id) => readRecords(context, { reader, id })));
  return found.flat();
}

const notFound = (ids: readonly string[]): OwsError =>
  new OwsError(
    "NotFound",
    "id",
    `There is no record ${JSON.stringify(ids[0]?.slice(0, 200) ?? "")}, or it is not yours to see.`,
  );
