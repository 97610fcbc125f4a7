export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os?: string; readonly architecture?: string; readonly variant?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An image or artifact (`config`, `layers`) or an index (`manifests`). */
export interface ManifestDocument {
  readonly mediaType?: string;
  readonly artifactType?: string;
  readonly config?: Descriptor;
  readonly layers?: readonly Descriptor[];
  readonly manifests?: readonly Descriptor[];
}

const INDEX_TYPES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];

/** What a client takes that takes everything. */
export const MANIFEST_TYPES: readonly string[] = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  ...INDEX_TYPES,
];

export const isIndexType = (mediaType: string): boolean => INDEX_TYPES.includes(mediaType);
