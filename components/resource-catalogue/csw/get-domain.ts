import { element, elements, escapeXml } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import { readDomain } from "../store/read-domain.ts";
import type { CswCall, CswResponse } from "./context.ts";
import { KINDS, NO_MAIN_RECORDS } from "./kinds.ts";
import { OwsError } from "./ows-error.ts";
import { findQueryable } from "./queryables.ts";
import { type CswVersion, DIALECTS, OPERATIONS, TYPE_NAMES, schemasOf } from "./versions.ts";

/** GetDomain (OGC 07-006r1 §10.7, OGC 12-176r7 §7.5): values of parameters, and of properties over the records that the caller may see. */
export async function getDomain(call: CswCall): Promise<CswResponse> {
  const { version, parameters } = call.input;
  const parameterName = parameters.get("parametername");
  const propertyName = parameters.get("propertyname") ?? parameters.get("valuereference");
  if (!parameterName && !propertyName) {
    throw new OwsError(
      "MissingParameterValue",
      "parameterName",
      "One of ParameterName and PropertyName (ValueReference in 3.0) must be given.",
    );
  }
  const domains = [
    ...(parameterName?.split(",") ?? []).map((name) => toParameterDomain(name.trim(), version)),
    ...(await Promise.all((propertyName?.split(",") ?? []).map((name) => toPropertyDomain(call, name.trim())))),
  ];
  const { csw, schema } = DIALECTS[version];
  return {
    body: `<csw:GetDomainResponse xmlns:csw="${csw}" xmlns:xsi="${NS.xsi}" xsi:schemaLocation="${csw} ${schema}">${domains.join("")}</csw:GetDomainResponse>`,
  };
}

const typeOf = (version: CswVersion): string =>
  version === "2.0.2" ? 'type="csw:Record"' : 'type="csw:Record" resultType="available"';

function toParameterDomain(name: string, version: CswVersion): string {
  const values = parameterValues(version)[name.toLowerCase()];
  if (values === undefined) {
    throw new OwsError(
      "InvalidParameterValue",
      "parameterName",
      `${JSON.stringify(name.slice(0, 80))} is not a parameter of this catalogue, such as GetRecords.outputSchema.`,
    );
  }
  return `<csw:DomainValues ${typeOf(version)}>${element("csw:ParameterName", name)}<csw:ListOfValues>${elements("csw:Value", values)}</csw:ListOfValues></csw:DomainValues>`;
}

function parameterValues(version: CswVersion): Readonly<Record<string, readonly string[]>> {
  const schemas = schemasOf(version);
  const formats = version === "2.0.2" ? ["application/xml"] : ["application/xml", "application/atom+xml"];
  return {
    "getcapabilities.sections": [
      "ServiceIdentification",
      "ServiceProvider",
      "OperationsMetadata",
      "Filter_Capabilities",
    ],
    "describerecord.typename": TYPE_NAMES,
    "describerecord.outputformat": ["application/xml"],
    "describerecord.schemalanguage": ["http://www.w3.org/XML/Schema"],
    "getrecords.typenames": TYPE_NAMES,
    "getrecords.outputschema": schemas,
    "getrecords.outputformat": formats,
    "getrecords.elementsetname": ["brief", "summary", "full"],
    "getrecords.resulttype": ["hits", "results", "validate"],
    "getrecords.constraintlanguage": ["CQL_TEXT", "FILTER"],
    "getrecordbyid.outputschema": schemas,
    "getrecordbyid.outputformat": formats,
    "getrecordbyid.elementsetname": ["brief", "summary", "full"],
    request: OPERATIONS[version],
  };
}

async function toPropertyDomain({ context, request, input: { version } }: CswCall, name: string): Promise<string> {
  const queryable = findQueryable(name, "propertyName");
  const tag = version === "2.0.2" ? "csw:PropertyName" : "csw:ValueReference";
  const head = `<csw:DomainValues ${typeOf(version)}>${element(tag, name)}`;
  if (queryable.kind === "words" || queryable.kind === "place") {
    return `${head}<csw:ConceptualScheme><csw:Name>${escapeXml(name)}</csw:Name><csw:Document>http://www.opengis.net/spec/csw</csw:Document><csw:Authority>OGC</csw:Authority></csw:ConceptualScheme></csw:DomainValues>`;
  }
  const property = queryable.kind === "begin" || queryable.kind === "end" ? "datetime" : queryable.property;
  const search = {
    reader: await context.readerOf(request),
    kinds: KINDS,
    limit: 0,
    countUpTo: 0,
    filter: NO_MAIN_RECORDS,
  };
  const domain = await readDomain(context, search, property);
  if ("values" in domain) {
    return `${head}<csw:ListOfValues>${elements("csw:Value", domain.values)}</csw:ListOfValues></csw:DomainValues>`;
  }
  return `${head}<csw:RangeOfValues>${element("csw:MinValue", domain.least)}${element("csw:MaxValue", domain.most)}</csw:RangeOfValues></csw:DomainValues>`;
}
