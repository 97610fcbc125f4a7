export { XmlError } from "./xml-error.ts";
export { type XmlElement, parseElements, parseLargeElements } from "./element.ts";
export { type NamedDocument, type XmlObject, type XmlValue, parseLargeNamed, parseNamed } from "./named-values.ts";
