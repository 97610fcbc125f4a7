import assert from "node:assert/strict";
import { test } from "node:test";

import { nameContent } from "../src/index.ts";

const tar = Buffer.concat([Buffer.alloc(257), Buffer.from("ustar\0")]);

for (const [bytes, address, expected] of [
  [
    Buffer.from("PK\u0003\u0004…"),
    "https://e.org/S2A_MSIL1C_1.SAFE.zip?x=1",
    "a ZIP archive, a Sentinel product in an archive",
  ],
  [Buffer.from("PK\u0003\u0004"), "https://e.org/a.zip", "a ZIP archive"],
  [
    Buffer.from("\u0089HDF\r\n\u001a\n", "latin1"),
    "s3://b/S5P_OFFL_L2__NO2____1.nc",
    "HDF5 (or netCDF-4), a Sentinel-5P product",
  ],
  [Buffer.from([0x0e, 3, 0x13, 1]), "https://e.org/MOD09GA.A2020001.h10v04.061.hdf", "HDF4, a MODIS product"],
  [
    Buffer.from("\u0089HDF\r\n", "latin1"),
    "https://e.org/VNP09GA.A2020001.h10v04.h5",
    "HDF5 (or netCDF-4), a VIIRS product",
  ],
  [
    Buffer.from("\u0089HDF\r\n", "latin1"),
    "https://e.org/NISAR_L2_PR_GSLC_001.h5",
    "HDF5 (or netCDF-4), a NISAR product",
  ],
  [tar, "https://e.org/x", "a tar archive"],
  [Buffer.from("%PDF-1.7"), "https://e.org/x", "PDF"],
  [Buffer.from("<!DOCTYPE html><p>"), "https://e.org/x", "an HTML page"],
  [Buffer.from('<?xml version="1.0"?>'), "https://e.org/x", "XML"],
  [Buffer.from([1, 2, 3, 4]), "https://e.org/x", "a binary file of no known type"],
  [Buffer.from('{"type": "Feature",}'), "https://e.org/item.json", undefined],
  [Buffer.from(""), "https://e.org/item.json", undefined],
] as const) {
  test(`${address} that begins with ${JSON.stringify(bytes.toString("latin1").slice(0, 8))} is ${expected ?? "not named"}`, () => {
    assert.equal(nameContent(bytes, address), expected);
  });
}
