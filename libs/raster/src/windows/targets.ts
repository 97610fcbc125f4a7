import type { Raster, SampleType } from "../readers/raster.ts";

/** Where a band is stored, and what stands for blocks of it that are not. */
export interface Target {
  readonly group: number;
  /** Within the group. */
  readonly index: number;
  readonly type: SampleType;
  readonly fill: number;
}

interface Targets {
  readonly targets: readonly Target[];
  /** The file's mask, or its alpha. */
  readonly maskTarget: Target | undefined;
  readonly all: readonly Target[];
  readonly groups: readonly number[];
}

/** What has to be read for some bands (from 0) of a raster. */
export function planTargets({ info, groups }: Raster, bands: readonly number[]): Targets {
  const targets = bands.map((band): Target => {
    const { type, nodata = 0 } = info.bands[band]!;
    return { ...placeOf(groups, band), type, fill: nodata };
  });
  const alpha = info.bands.findIndex(({ color }) => color === "alpha");
  const maskTarget: Target | undefined = info.hasMask
    ? { group: groups.length - 1, index: 0, type: "uint8", fill: 0 }
    : alpha >= 0
      ? { ...placeOf(groups, alpha), type: info.bands[alpha]!.type, fill: 0 }
      : undefined;
  const all = maskTarget === undefined ? targets : [...targets, maskTarget];
  return { targets, maskTarget, all, groups: [...new Set(all.map(({ group }) => group))] };
}

function placeOf(groups: readonly (readonly number[])[], band: number): { group: number; index: number } {
  const group = groups.findIndex((bands) => bands.includes(band));
  return { group, index: groups[group]?.indexOf(band) ?? 0 };
}
