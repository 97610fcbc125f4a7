import { element, escapeXml } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import type { OwsError } from "./ows-error.ts";
import { type CswVersion, DIALECTS } from "./versions.ts";

/** An exception report (OWS Common 1.0 for CSW 2.0.2, 2.0 for 3.0), without an XML declaration. */
export function renderExceptionReport({ code, locator, message }: OwsError, version: CswVersion): string {
  const { ows, exceptions, languageAttribute } = DIALECTS[version];
  const schema =
    version === "2.0.2"
      ? "http://schemas.opengis.net/ows/1.0.0/owsExceptionReport.xsd"
      : "http://schemas.opengis.net/ows/2.0/owsExceptionReport.xsd";
  const at = locator === undefined ? "" : ` locator="${escapeXml(locator)}"`;
  return `<ows:ExceptionReport xmlns:ows="${ows}" xmlns:xsi="${NS.xsi}" version="${exceptions}" ${languageAttribute}="en" xsi:schemaLocation="${ows} ${schema}"><ows:Exception exceptionCode="${code}"${at}>${element("ows:ExceptionText", message)}</ows:Exception></ows:ExceptionReport>`;
}
