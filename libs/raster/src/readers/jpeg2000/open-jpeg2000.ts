import { RasterError } from "../../errors.ts";
import type { Source } from "../../sources/source.ts";
import type { Raster } from "../raster.ts";
export function isJpeg2000(head: Uint8Array): boolean { return head[4] === 0x6a; }
export async function openJpeg2000(_s: Source, _signal?: AbortSignal): Promise<Raster> { throw new RasterError("unsupported", "x"); }
