const SPECIAL =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[&<>"\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text as it stands in elements and attributes. What XML 1.0 cannot hold at all becomes U+FFFD. */
export const escapeXml = (text: string): string =>
  text.replace(SPECIAL, (character) => ENTITIES[character] ?? "\ufffd");

/** An element with text; nothing where there is no text. */
export const element = (name: string, text: string | number | undefined, attributes = ""): string =>
  text === undefined || text === "" ? "" : `<${name}${attributes}>${escapeXml(String(text))}</${name}>`;

export const elements = (name: string, texts: readonly (string | number)[]): string =>
  texts.map((text) => element(name, text)).join("");
