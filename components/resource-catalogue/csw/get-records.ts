import type { FastifyRequest } from "fastify";

import { baseOf } from "../http/context.ts";
import { ATOM_NAMESPACES, ATOM_PREFIXES } from "../mapping/to-atom.ts";
import { dcNamespaces } from "../mapping/to-dc.ts";
import { searchRecords } from "../store/search.ts";
import { element, escapeXml } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import type { CswCall, CswResponse } from "./context.ts";
import type { CswInput } from "./input.ts";
import { KINDS } from "./kinds.ts";
import { readElementSet, readNumber, readOutputSchema } from "./options.ts";
import { OwsError } from "./ows-error.ts";
import { renderRecords } from "./render-records.ts";
import { readSearch } from "./search.ts";
import { DIALECTS } from "./versions.ts";

const MAX_RECORDS = 1000;
/** BriefRecord and SummaryRecord are views, which cannot be queried (OGC 07-006r1 §10.2.5.3). */
const TYPES = /^(?:\w+:)?(?:Record|MD_Metadata|MI_Metadata)$/;

/** GetRecords (OGC 07-006r1 §10.8, OGC 12-176r7 §7.3). */
export async function getRecords({ context, request, input }: CswCall): Promise<CswResponse> {
  const { parameters, version, elementNames } = input;
  const schema = readOutputSchema(input);
  checkTypeNames(input);
  const resultType = version === "2.0.2" ? parameters.get("resulttype") || "hits" : "results";
  if (!["hits", "results", "validate"].includes(resultType)) {
    throw new OwsError(
      "InvalidParameterValue",
      "resultType",
      "The parameter resultType must be hits, results or validate.",
    );
  }
  if (elementNames.length > 0 && parameters.has("elementsetname")) {
    throw new OwsError("NoApplicableCode", "ElementSetName", "ElementSetName and ElementName exclude each other.", {
      status: 400,
    });
  }
  const set = readElementSet(input);
  const start = readNumber(input, "startPosition", { standard: 1, minimum: 1 });
  const requested =
    parameters.get("maxrecords") === "unlimited"
      ? MAX_RECORDS
      : readNumber(input, "maxRecords", { standard: 10, minimum: 0 });
  const search = readSearch(input);
  if (parameters.get("responsehandler")) {
    throw new OwsError(
      "OptionNotSupported",
      "ResponseHandler",
      "Responses are not sent elsewhere; leave ResponseHandler out.",
    );
  }
  const timestamp = new Date().toISOString();
  if (resultType === "validate") {
    return { body: toAcknowledgement(input, timestamp) };
  }
  const limit = resultType === "hits" ? 0 : Math.min(requested, MAX_RECORDS);
  const reader = await context.readerOf(request);
  const { records, matched, next } = await searchRecords(context, {
    kinds: KINDS,
    ...search,
    reader,
    limit,
    ...(start > 1 && { offset: start - 1 }),
    ...context.harvestCount,
  });
  const only = elementNames.length === 0 ? undefined : new Set(elementNames.map(toLocalName));
  const rendered = await renderRecords(context, request, records, { version, schema, set, ...(only && { only }) });
  // Beyond the cap it is an estimate: the number is at least what has been seen.
  const last = start - 1 + records.length;
  const count = Math.max(matched?.count ?? 0, records.length === 0 ? 0 : last + (next === undefined ? 0 : 1));
  const following = limit === 0 ? (count === 0 ? 0 : start) : next === undefined ? 0 : last + 1;
  if (schema === NS.atom && version === "3.0.0") {
    return {
      body: toFeed(request, rendered, { count, start, limit, timestamp }),
      type: "application/atom+xml; charset=utf-8",
    };
  }
  const { csw, schema: location } = DIALECTS[version];
  const requestId = parameters.get("requestid");
  const attributes = `numberOfRecordsMatched="${count}" numberOfRecordsReturned="${records.length}" nextRecord="${following}" recordSchema="${schema}"${only === undefined ? ` elementSet="${set}"` : ""}`;
  const isAtom = schema === NS.atom;
  const results = isAtom ? rendered.map((entry) => entry.replace("<entry", `<entry xmlns="${NS.atom}"`)) : rendered;
  const namespaces = `${dcNamespaces(version)} xmlns:xsi="${NS.xsi}"${isAtom ? ` ${ATOM_PREFIXES}` : ""}`;
  return {
    body: `<csw:GetRecordsResponse ${namespaces} version="${version}" xsi:schemaLocation="${csw} ${location}">${element("csw:RequestId", requestId)}<csw:SearchStatus timestamp="${timestamp}"/><csw:SearchResults ${attributes}>${results.join("")}</csw:SearchResults></csw:GetRecordsResponse>`,
  };
}

const toLocalName = (name: string): string => name.split(/[:/]/).at(-1) ?? name;

/** @throws {OwsError} for types of records that the catalogue does not have */
function checkTypeNames({ parameters, version }: CswInput): void {
  const names = parameters.get("typenames");
  if (names === undefined || names === "") {
    if (version === "2.0.2") {
      throw new OwsError(
        "MissingParameterValue",
        "typeNames",
        "The parameter typeNames must be csw:Record or gmd:MD_Metadata.",
      );
    }
    return;
  }
  const wrong = names.split(/[\s,]+/).find((name) => !TYPES.test(name));
  if (wrong !== undefined) {
    throw new OwsError(
      "InvalidParameterValue",
      "typeNames",
      `The parameter typeNames must be csw:Record or gmd:MD_Metadata, not ${JSON.stringify(wrong.slice(0, 60))}.`,
    );
  }
}

function toAcknowledgement({ document, parameters }: CswInput, timestamp: string): string {
  const echoed =
    document === undefined
      ? [...parameters]
          .map(([name, value]) => element(name.replaceAll(/[^\w]/g, "_").replace(/^(?=\d)/, "_"), value))
          .join("")
      : document.text.replace(/^\ufeff?\s*<\?xml[^>]*\?>/, "");
  return `<csw:Acknowledgement xmlns:csw="${NS.csw2}" timeStamp="${timestamp}"><csw:EchoedRequest>${echoed}</csw:EchoedRequest></csw:Acknowledgement>`;
}

/** The answer to CSW 3.0 in Atom: a feed, as OpenSearch has it. */
function toFeed(
  request: FastifyRequest,
  entries: readonly string[],
  { count, start, limit, timestamp }: { count: number; start: number; limit: number; timestamp: string },
): string {
  const self = `${baseOf(request)}${request.url}`;
  return `<feed ${ATOM_NAMESPACES} xmlns:os="${NS.opensearch}">${element("id", self)}${element("title", "Resource catalogue")}<updated>${timestamp}</updated><author><name>Resource catalogue</name></author><link rel="self" type="application/atom+xml" href="${escapeXml(self)}"/><link rel="search" type="application/opensearchdescription+xml" href="${escapeXml(`${baseOf(request)}/opensearch`)}"/><os:totalResults>${count}</os:totalResults><os:startIndex>${start}</os:startIndex><os:itemsPerPage>${limit}</os:itemsPerPage>${entries.join("")}</feed>`;
}
