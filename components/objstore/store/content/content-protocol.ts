import type { ContentLabel } from "./content-trailer.ts";
import type { DigestName } from "../digests/digests.ts";

/** What the event loop asks of a content worker. Commands of one writer are handled in order. */
export type ContentCommand = { readonly writer: number } & (
  | {
      readonly kind: "open";
      readonly path: string;
      readonly digests: readonly DigestName[];
      readonly memory: SharedArrayBuffer;
      /** Key and seed of the encryption. */
      readonly encryption: { readonly key: Uint8Array; readonly seed: string } | undefined;
    }
  | { readonly kind: "write"; readonly offset: number; readonly length: number }
  | { readonly kind: "sync"; readonly label: ContentLabel | undefined }
  | { readonly kind: "close" }
);

export type ContentResponse = { readonly writer: number } & (
  | { readonly kind: "opened" }
  /** The shared memory at `offset` may be used again. */
  | { readonly kind: "written"; readonly offset: number }
  | { readonly kind: "synced"; readonly digests: Readonly<Partial<Record<DigestName, Uint8Array>>> }
  | { readonly kind: "closed" }
  | { readonly kind: "failed"; readonly error: unknown; readonly code?: string | undefined }
);
