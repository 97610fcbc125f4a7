/** A text inside of an element or attribute. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"'\r\n\t]|[^\P{Cc}\n\r\t]/gu, (character) => `&#${character.codePointAt(0)};`);
}
