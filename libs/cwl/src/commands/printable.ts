/** Text of a tool without what would move the cursor of a terminal or change its colours. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "·");
}
