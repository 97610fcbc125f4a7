import { ProductError } from "./errors.ts";
import { findAll, findText, parseXml, textOf } from "./xml.ts";

/** The identifier of a metadata record in XML: ISO 19139 or Dublin Core. @throws {ProductError} */
export async function readXmlId(bytes: Buffer, where: string): Promise<string> {
  const root = await parseXml(bytes, where);
  const [file] = findAll(root, "fileIdentifier");
  const id =
    (file === undefined ? undefined : (findText(file, "CharacterString") ?? textOf(file))) ??
    findText(root, "identifier");
  if (id === undefined) {
    throw new ProductError(`${where} has neither fileIdentifier nor dc:identifier; give the record one.`);
  }
  return id;
}
