import { NS } from "../xml/namespaces.ts";
import type { CswCall, CswResponse } from "./context.ts";
import { OwsError } from "./ows-error.ts";
import { DIALECTS } from "./versions.ts";

const COMPONENTS = [
  { name: "Record", namespace: NS.csw2, location: "http://schemas.opengis.net/csw/2.0.2/record.xsd" },
  { name: "MD_Metadata", namespace: NS.gmd, location: "http://schemas.opengis.net/iso/19139/20060504/gmd/gmd.xsd" },
];
const LANGUAGES = new Set([
  "XMLSCHEMA",
  "http://www.w3.org/XML/Schema",
  "http://www.w3.org/2001/XMLSchema",
  "http://www.w3.org/TR/xmlschema-1/",
]);

/** DescribeRecord (OGC 07-006r1 §10.6): the schemas are those of OGC and ISO, and included by their addresses. */
export function describeRecord({ input: { parameters } }: CswCall): CswResponse {
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
  const names =
    (parameters.get("typename") ?? parameters.get("typenames"))
      ?.split(",")
      .map((name) => name.trim().split(":").at(-1)) ?? [];
  const requested = COMPONENTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const { csw, schema } = DIALECTS["2.0.2"];
  const components = requested.map(
    ({ namespace, location }) =>
      `<csw:SchemaComponent schemaLanguage="http://www.w3.org/XML/Schema" targetNamespace="${namespace}"><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="${namespace}" elementFormDefault="qualified"><xs:include schemaLocation="${location}"/></xs:schema></csw:SchemaComponent>`,
  );
  return {
    body: `<csw:DescribeRecordResponse xmlns:csw="${csw}" xmlns:xsi="${NS.xsi}" xsi:schemaLocation="${csw} ${schema}">${components.join("")}</csw:DescribeRecordResponse>`,
  };
}
