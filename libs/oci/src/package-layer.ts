/** Media types of CWL documents (IANA), as layers of an application package carry them. */
const CWL = /^application\/cwl(?:\+json|\+yaml)?$/;
const TITLE = "org.opencontainers.image.title";

interface Layer {
  readonly mediaType: string;
  readonly digest: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The layer that is the CWL document of an application package: the first of its media type, or the only file `*.cwl`. */
export function findPackageLayer<T extends Layer>(layers: readonly T[]): T | undefined {
  const named = layers.filter(({ annotations }) => annotations?.[TITLE]?.endsWith(".cwl"));
  return layers.find(({ mediaType }) => CWL.test(mediaType)) ?? (named.length === 1 ? named[0] : undefined);
}
