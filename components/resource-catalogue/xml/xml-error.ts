/** A document that is no XML, or is more than is taken. */
export class XmlError extends Error {
  override readonly name = "XmlError";
}
