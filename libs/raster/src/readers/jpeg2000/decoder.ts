// @ts-expect-error -- the package has no types; those below say what is used of it
import openJpeg from "@cornerstonejs/codec-openjpeg/decodewasmjs";

import { invalidRaster } from "../../errors.ts";
import { type SampleType, type Samples, createSamples } from "../raster.ts";
import { chooseComponents } from "./choose-components.ts";

interface Decoder {
  readonly getEncodedBuffer: (length: number) => Uint8Array;
  readonly getDecodedBuffer: () => Uint8Array;
  readonly decodeSubResolution: (reduction: number, layer: number) => void;
  readonly delete: () => void;
}

type OpenJpeg = (options: {
  readonly print: () => void;
  readonly printErr: () => void;
}) => Promise<{ readonly J2KDecoder: new () => Decoder }>;

let library: ReturnType<OpenJpeg> | undefined;

/** The library of this thread. One that faulted is not used again: what an exception leaks or damages stays in its memory. */
function openLibrary(): ReturnType<OpenJpeg> {
  // It reports every tile on standard output otherwise.
  library ??= (openJpeg as OpenJpeg)({ print: () => {}, printErr: () => {} });
  return library;
}

interface DecodeRequest {
  readonly reduction: number;
  readonly pixels: number;
  readonly components: number;
  readonly type: SampleType;
}

/** What the decoder gives at once; it takes no other numbers. */
const [ONE, THREE] = [1, 3];

/** Decodes a codestream, smaller by halvings, to one array a band of `pixels` each. */
export async function decodeCodestream(bytes: Uint8Array, request: DecodeRequest): Promise<readonly Samples[]> {
  const { components } = request;
  if (components === ONE || components === THREE) {
    return decode(bytes, request);
  }
  const planes: Samples[] = [];
  for (let first = 0; first < components; first += THREE) {
    const left = Math.min(THREE, components - first);
    // Two are decoded once, with one of them again, not twice.
    const chosen = left === ONE ? [first] : [first, first + 1, first + left - 1];
    const decoded = await decode(chooseComponents(bytes, chosen), { ...request, components: chosen.length });
    planes.push(...decoded.slice(0, left));
  }
  return planes;
}

async function decode(
  bytes: Uint8Array,
  { reduction, pixels, components, type }: DecodeRequest,
): Promise<readonly Samples[]> {
  const opened = openLibrary();
  try {
    const { J2KDecoder } = await opened;
    const decoder = new J2KDecoder();
    decoder.getEncodedBuffer(bytes.length).set(bytes);
    decoder.decodeSubResolution(reduction, 0);
    const planes = toPlanes(decoder.getDecodedBuffer(), pixels, components, type);
    decoder.delete();
    return planes;
  } catch (error) {
    if (library === opened) {
      library = undefined;
    }
    throw invalidRaster("A JPEG 2000 tile is damaged.", error);
  }
}

function toPlanes(raw: Uint8Array, pixels: number, components: number, type: SampleType): Samples[] {
  const bytes = raw.slice();
  const values =
    type === "uint8"
      ? bytes
      : type === "int8"
        ? new Int8Array(bytes.buffer)
        : type === "uint16"
          ? new Uint16Array(bytes.buffer)
          : new Int16Array(bytes.buffer);
  if (values.length !== pixels * components) {
    throw new Error(`${values.length} samples instead of ${pixels * components}`);
  }
  return Array.from({ length: components }, (_, component) => {
    const plane = createSamples(type, pixels);
    for (let pixel = 0, at = component; pixel < pixels; pixel += 1, at += components) {
      plane[pixel] = values[at]!;
    }
    return plane;
  });
}
