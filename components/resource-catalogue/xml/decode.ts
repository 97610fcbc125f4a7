import { XmlError } from "./xml-error.ts";

/** The text of a document in the encoding that its bytes or its declaration say, UTF-8 otherwise. @throws {XmlError} */
export function decodeXml(bytes: Buffer): string {
  const start = bytes.subarray(0, 200).toString("latin1");
  const isWide =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? "utf-16le"
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : undefined;
  const named = /^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(start)?.[1];
  try {
    return new TextDecoder(isWide ?? named ?? "utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new XmlError(`is not text in ${isWide ?? named ?? "UTF-8"}`);
  }
}

/** A document as text that can stand inside of another one. */
export function stripDeclaration(bytes: Buffer): string {
  return decodeXml(bytes)
    .replace(/^\ufeff?\s*<\?xml[^>]*\?>/, "")
    .trim();
}
