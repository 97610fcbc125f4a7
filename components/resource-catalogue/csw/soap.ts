import type { XmlElement } from "../xml/element.ts";
import { childOf } from "../xml/element.ts";
import { element } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import { OwsError } from "./ows-error.ts";

export type SoapVersion = "1.1" | "1.2";

/** The request inside of a SOAP envelope, or the document itself. @throws {OwsError} for an envelope without one */
export function openEnvelope(root: XmlElement): { readonly request: XmlElement; readonly soap?: SoapVersion } {
  const isSoap = root.name === "Envelope" && (root.namespace === NS.soap11 || root.namespace === NS.soap12);
  if (!isSoap) {
    return { request: root };
  }
  const request = childOf(root, "Body")?.children[0];
  if (request === undefined) {
    throw new OwsError("NoApplicableCode", "Body", "The SOAP envelope must have a Body with a request.", {
      status: 400,
    });
  }
  return { request, soap: root.namespace === NS.soap11 ? "1.1" : "1.2" };
}

export const soapType = (soap: SoapVersion): string =>
  soap === "1.1" ? "text/xml; charset=utf-8" : "application/soap+xml; charset=utf-8";

/** A response in an envelope. */
export const wrapResponse = (body: string, soap: SoapVersion): string =>
  `<soap:Envelope xmlns:soap="${soap === "1.1" ? NS.soap11 : NS.soap12}"><soap:Body>${body}</soap:Body></soap:Envelope>`;

/** An exception report as a fault. */
export function wrapFault(report: string, message: string, soap: SoapVersion): string {
  const fault =
    soap === "1.1"
      ? `<soap:Fault><faultcode>soap:Server</faultcode>${element("faultstring", message)}<detail>${report}</detail></soap:Fault>`
      : `<soap:Fault><soap:Code><soap:Value>soap:Sender</soap:Value></soap:Code><soap:Reason>${element("soap:Text", message, ' xml:lang="en"')}</soap:Reason><soap:Detail>${report}</soap:Detail></soap:Fault>`;
  return wrapResponse(fault, soap);
}
