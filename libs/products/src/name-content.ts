/** Products that are known by their names and not converted; where nothing else is said, an item for them is to be registered instead. */
const PRODUCTS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["a Sentinel-5P product", /^S5P_/i],
  ["a MODIS product", /^M[OYC]D\w+\.A\d{7}\./i],
  ["a VIIRS product", /^V(?:NP|J1|J2)\w*\.A\d{7}\./i],
  ["an ASTER product", /^AST_?L?\w+_\d{3}/i],
  ["a NISAR product", /^NISAR_/i],
  ["a Sentinel product in an archive", /\.(?:SAFE|SEN3)\.(?:zip|tar|tgz|tar\.gz)$/i],
  ["an EOPF product", /^S[123]\w+\.zarr(?:\.zip)?$/i],
];

/** Types of files by the bytes, in hexadecimal, that they have at an offset. */
const SIGNATURES: readonly (readonly [name: string, offset: number, ...bytes: readonly string[]])[] = [
  ["a ZIP archive", 0, "504b0304", "504b0506"],
  ["gzip", 0, "1f8b"],
  ["HDF5 (or netCDF-4)", 0, "894844460d0a"],
  ["HDF4", 0, "0e031301"],
  ["netCDF", 0, "43444601", "43444602", "43444605"],
  ["TIFF", 0, "49492a00", "49492b00", "4d4d002a", "4d4d002b"],
  ["JPEG 2000", 0, "0000000c6a502020", "ff4fff51"],
  ["PNG", 0, "89504e47"],
  ["JPEG", 0, "ffd8ff"],
  ["PDF", 0, "255044462d"],
  ["Parquet", 0, "50415231"],
  ["a tar archive", 257, "7573746172"],
];
const MARKUP: readonly (readonly [name: string, start: RegExp])[] = [
  ["an HTML page", /^\uFEFF?\s*<(?:!doctype html|html)\b/i],
  ["XML", /^\uFEFF?\s*<[?!a-z]/i],
];

/**
 * What a file is that is not the document that was expected: `HDF5 (or netCDF-4), a Sentinel-5P product`. Undefined for text of no
 * known type, whose own parser says more.
 */
export function nameContent(bytes: Buffer, address: string): string | undefined {
  const name = decodeName(address);
  const start = bytes.subarray(0, 512);
  const [type] =
    SIGNATURES.find(([, offset, ...signatures]) =>
      signatures.some((hex) => start.subarray(offset, offset + hex.length / 2).toString("hex") === hex),
    ) ??
    MARKUP.find(([, pattern]) => pattern.test(start.toString())) ??
    [];
  const [product] = PRODUCTS.find(([, pattern]) => pattern.test(name)) ?? [];
  // Control characters that no text has.
  const isBinary = start.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27));
  const known = type ?? (isBinary ? "a binary file of no known type" : undefined);
  return known === undefined || product === undefined ? (known ?? product) : `${known}, ${product}`;
}

/** The last part of an address, without query and fragment. */
const decodeName = (address: string): string =>
  address
    .replace(/[?#].*$/s, "")
    .replace(/\/+$/, "")
    .replace(/^.*\//s, "");
