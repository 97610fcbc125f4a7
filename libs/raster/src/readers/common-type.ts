import { type SampleType, rangeOf } from "./raster.ts";

const INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32"] as const;

/** The smallest type that holds every value of all of these types. */
export function commonTypeOf(types: readonly SampleType[]): SampleType {
  const [first] = types;
  if (first === undefined || types.every((type) => type === first)) {
    return first ?? "uint8";
  }
  const ranges = types.map(rangeOf);
  const integer = INTEGERS.find((type) =>
    ranges.every((range) => {
      const [least, greatest] = rangeOf(type)!;
      return range !== undefined && range[0] >= least && range[1] <= greatest;
    }),
  );
  const isPrecise = types.some((type) => ["float64", "int32", "uint32"].includes(type));
  return integer ?? (isPrecise ? "float64" : "float32");
}

/** A type of whole numbers, or of floats, that has values which this one has not. */
export function widerTypeOf(type: SampleType): SampleType {
  const [least = Number.NaN, greatest = Number.NaN] = rangeOf(type) ?? [];
  const wider = (["int16", "int32"] as const).find((each) => {
    const [low, high] = rangeOf(each)!;
    return low < least && high >= greatest;
  });
  return wider ?? "float64";
}
