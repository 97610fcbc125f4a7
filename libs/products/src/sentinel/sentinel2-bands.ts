/** A band of MSI: asset key, names, wavelength and width in µm, the resolution that it is measured at in m. */
interface MsiBand {
  readonly key: string;
  readonly title: string;
  readonly commonName: string;
  readonly wavelength: number;
  readonly width: number;
  readonly gsd: number;
  /** Number in the metadata (`band_id`). */
  readonly index: number;
}

const band = (
  index: number,
  key: string,
  title: string,
  [commonName, wavelength, width, gsd]: readonly [string, number, number, number],
): MsiBand => ({ index, key, title, commonName, wavelength, width, gsd });

export const MSI_BANDS: Readonly<Record<string, MsiBand>> = {
  B01: band(0, "coastal", "Coastal", ["coastal", 0.443, 0.027, 60]),
  B02: band(1, "blue", "Blue", ["blue", 0.49, 0.098, 10]),
  B03: band(2, "green", "Green", ["green", 0.56, 0.045, 10]),
  B04: band(3, "red", "Red", ["red", 0.665, 0.038, 10]),
  B05: band(4, "rededge1", "Red edge 1", ["rededge", 0.704, 0.019, 20]),
  B06: band(5, "rededge2", "Red edge 2", ["rededge", 0.74, 0.018, 20]),
  B07: band(6, "rededge3", "Red edge 3", ["rededge", 0.783, 0.028, 20]),
  B08: band(7, "nir", "NIR 1", ["nir", 0.842, 0.145, 10]),
  B8A: band(8, "nir08", "NIR 2", ["nir08", 0.865, 0.033, 20]),
  B09: band(9, "nir09", "NIR 3", ["nir09", 0.945, 0.026, 60]),
  B10: band(10, "cirrus", "Cirrus", ["cirrus", 1.3735, 0.075, 60]),
  B11: band(11, "swir16", "SWIR 1.6 µm", ["swir16", 1.61, 0.143, 20]),
  B12: band(12, "swir22", "SWIR 2.2 µm", ["swir22", 2.19, 0.242, 20]),
};

/** Classes of the scene classification map. */
export const SCL_CLASSES = [
  "no_data",
  "saturated_or_defective",
  "dark_area_pixels",
  "cloud_shadows",
  "vegetation",
  "not_vegetated",
  "water",
  "unclassified",
  "cloud_medium_probability",
  "cloud_high_probability",
  "thin_cirrus",
  "snow",
].map((name, value) => ({ value, name, description: name.replaceAll("_", " ") }));
