import { xmlToRecord } from "../model/from-xml.ts";
import type { NewRecord } from "../model/record.ts";
import { RecordError } from "../model/xml-record.ts";
import { writeRecords } from "../store/write-records.ts";
import { cutElement } from "../xml/cut.ts";
import { type XmlElement, descendantsOf } from "../xml/element.ts";
import { element } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import { type XmlDocument, readXml } from "../xml/read.ts";
import type { CswCall, CswResponse } from "./context.ts";
import { enterMainCollection } from "./enter.ts";
import { OwsError } from "./ows-error.ts";
import { renderInserted } from "./transaction.ts";
import { DIALECTS } from "./versions.ts";

/** Records that one request harvests, and those of one page of another catalogue. */
const MAX_RECORDS = 5000;
const PAGE = 100;
const TYPES: ReadonlySet<string> = new Set([NS.csw2, NS.csw3, NS.gmd, NS.gmi]);

/**
 * Harvest (OGC 07-006r1 §10.12, OGC 12-176r7 §7.7): a record, a document of records, or another CSW 2.0.2. Records that are there already
 * are replaced. All is read before anything is written.
 */
export async function harvest(call: CswCall): Promise<CswResponse> {
  const { context, request, input } = call;
  const { parameters, version } = input;
  const source = parameters.get("source");
  const type = parameters.get("resourcetype");
  if (!source) {
    throw new OwsError(
      "MissingParameterValue",
      "Source",
      "Harvest must have a Source, the address of a record or of a CSW.",
    );
  }
  if (!type) {
    throw new OwsError(
      "MissingParameterValue",
      "ResourceType",
      `Harvest must have a ResourceType: ${[...TYPES].join(", ")}.`,
    );
  }
  if (!TYPES.has(type)) {
    throw new OwsError(
      "InvalidParameterValue",
      "ResourceType",
      `The ResourceType must be one of ${[...TYPES].join(", ")}.`,
    );
  }
  for (const name of ["HarvestInterval", "ResponseHandler"]) {
    if (parameters.get(name.toLowerCase())) {
      throw new OwsError(
        "OptionNotSupported",
        name,
        `${name} is not offered: records are harvested once, and the response tells of it.`,
      );
    }
  }
  const { entry } = await enterMainCollection(context, request);
  const records = [...new Map((await readSource(call, source, type)).map((record) => [record.id, record])).values()];
  const written = await writeRecords(context.pool, records, { mode: "upsert", collection: entry.key });
  context.announceChange();
  const inserted = written.filter(({ isNew }) => isNew).length;
  const { csw, schema } = DIALECTS[version];
  const totals = [
    element("csw:totalInserted", inserted),
    element("csw:totalUpdated", written.length - inserted),
    element("csw:totalDeleted", 0),
  ];
  return {
    body: `<csw:HarvestResponse xmlns:csw="${csw}" xmlns:dc="${NS.dc}" xmlns:xsi="${NS.xsi}" xsi:schemaLocation="${csw} ${schema}"><csw:TransactionResponse version="${version}"><csw:TransactionSummary>${totals.join("")}</csw:TransactionSummary>${await renderInserted(records.filter((_, index) => written[index]?.isNew))}</csw:TransactionResponse></csw:HarvestResponse>`,
  };
}

/** The records of a document; of a catalogue, page by page. */
async function readSource({ context }: CswCall, source: string, type: string): Promise<readonly NewRecord[]> {
  const bytes = await context.fetchSource(source, "application/xml, text/xml");
  const document = await readXml(bytes);
  if (document.root.name !== "Capabilities") {
    return toRecords(document, bytes);
  }
  const records: NewRecord[] = [];
  for (let start = 1; start > 0 && records.length < MAX_RECORDS;) {
    const page = await readXml(await context.fetchSource(toPageUrl(source, type, start), "application/xml"));
    const [results] = descendantsOf(page.root, "SearchResults");
    if (results === undefined) {
      const [said] = descendantsOf(page.root, "ExceptionText");
      throw new OwsError(
        "NoApplicableCode",
        "Source",
        `The source does not send records: ${said?.text.trim().slice(0, 200) ?? page.root.name}.`,
        { status: 400 },
      );
    }
    const found = results.children.map((child) => toRecord(page, child));
    records.push(...found);
    const next = Number(results.attributes.get("nextRecord") ?? 0);
    start = found.length === 0 || next <= start ? 0 : next;
  }
  return records;
}

function toPageUrl(source: string, type: string, start: number): string {
  const url = new URL(source);
  for (const name of new URLSearchParams(url.search).keys()) {
    if (["service", "version", "request"].includes(name.toLowerCase())) {
      url.searchParams.delete(name);
    }
  }
  const isIso = type === NS.gmd || type === NS.gmi;
  const parameters = {
    service: "CSW",
    version: "2.0.2",
    request: "GetRecords",
    resultType: "results",
    elementSetName: "full",
    typeNames: isIso ? "gmd:MD_Metadata" : "csw:Record",
    outputSchema: isIso ? NS.gmd : NS.csw2,
    startPosition: String(start),
    maxRecords: String(PAGE),
  };
  for (const [name, value] of Object.entries(parameters)) {
    url.searchParams.set(name, value);
  }
  return url.href;
}

/** A record, or the records of a response. */
function toRecords(document: XmlDocument, bytes: Buffer): readonly NewRecord[] {
  const { root } = document;
  const isResponse = root.name === "GetRecordsResponse" || root.name === "GetRecordByIdResponse";
  if (!isResponse) {
    return [xmlToRecord(root, bytes)];
  }
  const listed =
    root.name === "GetRecordByIdResponse" ? root.children : (descendantsOf(root, "SearchResults")[0]?.children ?? []);
  if (listed.length > MAX_RECORDS) {
    throw new RecordError(`must have at most ${MAX_RECORDS} records`);
  }
  return listed.map((child) => toRecord(document, child));
}

const toRecord = ({ text }: XmlDocument, child: XmlElement): NewRecord =>
  xmlToRecord(child, Buffer.from(cutElement(text, child)));
