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

/** Types of files by the bytes that they begin with, as latin1. */
const SIGNATURES: readonly (readonly [name: string, signature: RegExp])[] = [
  ["a ZIP archive", /^PK(?:\u0003\u0004|\u0005\u0006)/],
  ["gzip", /^\u001f\u008b/],
  ["HDF5 (or netCDF-4)", /^\u0089HDF\r\n/],
  ["HDF4", /^\u000e\u0003\u0013\u0001/],
  ["netCDF", /^CDF[\u0001\u0002\u0005]/],
  ["TIFF", /^(?:II[*+]\0|MM\0[*+])/],
  ["JPEG 2000", /^(?:\0\0\0\u000cjP {2}|\u00ff\u004f\u00ff\u0051)/],
  ["PNG", /^\u0089PNG/],
  ["JPEG", /^\u00ff\u00d8\u00ff/],
  ["PDF", /^%PDF-/],
  ["Parquet", /^PAR1/],
  ["a tar archive", /^[^]{257}ustar/],
  ["an HTML page", /^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype html|html)\b/i],
  ["XML", /^(?:\u00ef\u00bb\u00bf)?\s*<[?!a-z]/i],
];

/**
 * What a file is that is not the document that was expected: `HDF5 (or netCDF-4), a Sentinel-5P product`. Undefined for text of no
 * known type, whose own parser says more.
 */
export function nameContent(bytes: Buffer, address: string): string | undefined {
  const name = decodeName(address);
  const start = bytes.subarray(0, 512).toString("latin1");
  const [type] = SIGNATURES.find(([, signature]) => signature.test(start)) ?? [];
  const [product] = PRODUCTS.find(([, pattern]) => pattern.test(name)) ?? [];
  // Control characters that no text has.
  const isBinary = bytes.subarray(0, 512).some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27));
  const known = type ?? (isBinary ? "a binary file of no known type" : undefined);
  return known === undefined || product === undefined ? (known ?? product) : `${known}, ${product}`;
}

/** The last part of an address, without query and fragment. */
const decodeName = (address: string): string =>
  address
    .replace(/[?#].*$/s, "")
    .replace(/\/+$/, "")
    .replace(/^.*\//s, "");
