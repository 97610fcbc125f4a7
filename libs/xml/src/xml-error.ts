/** A document that is not well formed, or is more than is taken. The message follows the document's name: "is not well formed …". */
export class XmlError extends Error {
  override readonly name = "XmlError";
}
