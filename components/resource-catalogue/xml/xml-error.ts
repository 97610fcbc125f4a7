export { XmlError } from "@swath/xml";
