/** What `format` of a File is called that an OGC client gives; or why it is none that the package takes. */
type ChosenFormat = { readonly format?: string; readonly refused?: never } | { readonly refused: string };

/** Types that say nothing. */
const UNTOLD = new Set(["application/octet-stream", "binary/octet-stream"]);

/**
 * CWL demands that a file says its format where the input names some; requests of OGC API Processes say media types, if anything.
 * The format is then the one of that media type, else the first that the input takes.
 * @param formats IRIs, as the package has them
 */
export function chooseFormat(
  provided: unknown,
  mediaType: string | undefined,
  formats: readonly string[] | undefined,
): ChosenFormat {
  const { format: own } = (typeof provided === "object" && provided !== null ? provided : {}) as {
    readonly format?: unknown;
  };
  if (typeof own === "string") {
    return { format: own };
  }
  const [first] = formats ?? [];
  // An expression decides when the job runs.
  if (formats === undefined || first === undefined || formats.some((format) => /\$[({]/.test(format))) {
    return {};
  }
  const type = mediaType?.split(";", 1)[0]?.trim().toLowerCase();
  const types = formats.map(toMediaType);
  if (type === undefined || UNTOLD.has(type)) {
    return { format: first };
  }
  const match = formats[types.indexOf(type)];
  // Formats of other vocabularies cannot be compared with a media type.
  if (match === undefined && types.every((known) => known !== undefined)) {
    return { refused: `is of the type ${JSON.stringify(type.slice(0, 80))}; allowed: ${types.join(", ")}` };
  }
  return { format: match ?? first };
}

/** The media type that a format of IANA's list is. */
export const toMediaType = (format: string): string | undefined =>
  /\/media-types\/([^/]+\/[^/?#]+)$/.exec(format)?.[1]?.toLowerCase();
