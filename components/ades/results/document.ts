import { type Output, isStoredFile } from "./outputs.ts";

/** Results as one JSON document: names with values, qualified values, and links (OGC 18-062r2 §7.13, results.yaml). */
export function toDocument(outputs: readonly Output[]): Record<string, unknown> {
  return Object.fromEntries(outputs.map((output) => [output.name, toEntry(output)]));
}

function toEntry({ href, mediaType, value, encoding, byReference }: Output): unknown {
  if (byReference || value === undefined) {
    return { href, type: mediaType };
  }
  // An object, or bytes, is told from a link and from a text by its qualification; a bounding box has a form of its own.
  const isPlain =
    typeof value !== "object" || value === null || Array.isArray(value) || isStoredFile(value) || "bbox" in value;
  if (isPlain && encoding === undefined && /^(text\/plain|application\/json)\b/.test(mediaType)) {
    return value;
  }
  return { value, mediaType, ...(encoding && { encoding }) };
}
