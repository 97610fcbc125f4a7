/** Part of an address, its escapes decoded; a text that holds something else after a percent sign is the name as it is. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
