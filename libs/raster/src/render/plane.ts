import type { SampleType, Samples } from "../readers/raster.ts";

/** Values of pixels, and where they are: mask 0 for nothing, 255 for there, between for half-transparent. */
export interface Plane {
  readonly samples: Samples;
  readonly mask: Uint8Array;
  readonly type: SampleType;
}
