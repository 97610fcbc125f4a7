import { childrenOf } from "../xml/element.ts";
import { NS } from "../xml/namespaces.ts";
import type { CswCall, CswResponse } from "./context.ts";
import type { CswInput } from "./input.ts";
import { OwsError } from "./ows-error.ts";
import { RECORD_SCHEMA } from "./record-schema.ts";
import { DIALECTS, TYPE_NAMES } from "./versions.ts";

const GMD_SCHEMA = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="${NS.gmd}" elementFormDefault="qualified"><xs:include schemaLocation="http://schemas.opengis.net/iso/19139/20060504/gmd/gmd.xsd"/></xs:schema>`;
const COMPONENTS = [
  { name: "Record", namespace: NS.csw2, schema: RECORD_SCHEMA },
  { name: "MD_Metadata", namespace: NS.gmd, schema: GMD_SCHEMA },
];
const LANGUAGES = new Set([
  "XMLSCHEMA",
  "http://www.w3.org/XML/Schema",
  "http://www.w3.org/2001/XMLSchema",
  "http://www.w3.org/TR/xmlschema-1/",
]);

/** DescribeRecord (OGC 07-006r1 §10.6). @throws {OwsError} for types that the catalogue does not have, and names without a namespace */
export function describeRecord({ input }: CswCall): CswResponse {
  const { parameters } = input;
  const language = parameters.get("schemalanguage");
  if (language !== undefined && language !== "" && !LANGUAGES.has(language)) {
    throw new OwsError(
      "InvalidParameterValue",
      "schemaLanguage",
      "The parameter schemaLanguage must be http://www.w3.org/XML/Schema.",
    );
  }
  const format = parameters.get("outputformat");
  if (format !== undefined && format !== "" && format !== "application/xml" && format !== "text/xml") {
    throw new OwsError("InvalidParameterValue", "outputFormat", "The parameter outputFormat must be application/xml.");
  }
  const names = readTypeNames(input);
  const requested = COMPONENTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const { csw, schema: location } = DIALECTS["2.0.2"];
  const components = requested.map(
    ({ namespace, schema }) =>
      `<csw:SchemaComponent schemaLanguage="http://www.w3.org/XML/Schema" targetNamespace="${namespace}">${schema}</csw:SchemaComponent>`,
  );
  return {
    body: `<csw:DescribeRecordResponse xmlns:csw="${csw}" xmlns:xsi="${NS.xsi}" xsi:schemaLocation="${csw} ${location}">${components.join("")}</csw:DescribeRecordResponse>`,
  };
}

/** Local names of the types that a request names. */
function readTypeNames({ document, parameters }: CswInput): readonly string[] {
  const listed = childrenOf(document?.request, "TypeName").map(({ text, scope }) =>
    toLocalName(text.trim(), scope.get("") ?? ""),
  );
  const given = parameters.get("typename") || parameters.get("typenames");
  return document === undefined && given ? given.split(",").map((name) => toLocalName(name.trim(), "")) : listed;
}

/** @param namespace what a name without a prefix is in */
function toLocalName(name: string, namespace: string): string {
  const [prefix, local] = name.includes(":") ? name.split(":", 2) : [undefined, name];
  const found = COMPONENTS.find((component) => component.name === local);
  if (found === undefined || (prefix === undefined && found.namespace !== namespace)) {
    throw new OwsError(
      "InvalidParameterValue",
      "TypeName",
      `The parameter TypeName must be ${TYPE_NAMES.join(" or ")}, with its prefix, not ${JSON.stringify(name.slice(0, 60))}.`,
    );
  }
  return found.name;
}
