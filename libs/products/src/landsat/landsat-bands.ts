/** A band of a Landsat sensor: what it is called, and its wavelength in µm. */
export interface LandsatBand {
  readonly key: string;
  readonly commonName?: string;
  readonly wavelength?: number;
}

const make = (rows: Readonly<Record<string, readonly [string, number]>>): Readonly<Record<string, LandsatBand>> =>
  Object.fromEntries(
    Object.entries(rows).map(([number, [name, wavelength]]) => [number, { key: name, commonName: name, wavelength }]),
  );

const OLI_TIRS = make({
  1: ["coastal", 0.44],
  2: ["blue", 0.48],
  3: ["green", 0.56],
  4: ["red", 0.65],
  5: ["nir08", 0.86],
  6: ["swir16", 1.6],
  7: ["swir22", 2.2],
  8: ["pan", 0.59],
  9: ["cirrus", 1.37],
  10: ["lwir11", 10.9],
  11: ["lwir12", 12],
  ST_B10: ["lwir11", 10.9],
});
const ETM = make({
  1: ["blue", 0.48],
  2: ["green", 0.56],
  3: ["red", 0.66],
  4: ["nir08", 0.84],
  5: ["swir16", 1.65],
  "6_VCID_1": ["lwir_low", 11.34],
  "6_VCID_2": ["lwir_high", 11.34],
  7: ["swir22", 2.2],
  8: ["pan", 0.71],
  ST_B6: ["lwir", 11.34],
});
const TM = make({
  1: ["blue", 0.49],
  2: ["green", 0.56],
  3: ["red", 0.66],
  4: ["nir08", 0.83],
  5: ["swir16", 1.65],
  6: ["lwir", 11.45],
  7: ["swir22", 2.22],
  ST_B6: ["lwir", 11.45],
});
const MSS_1_TO_3 = make({ 4: ["green", 0.55], 5: ["red", 0.65], 6: ["nir08", 0.75], 7: ["nir09", 0.95] });
const MSS_4_AND_5 = make({ 1: ["green", 0.55], 2: ["red", 0.65], 3: ["nir08", 0.75], 4: ["nir09", 0.95] });

/** Bands of a sensor by what `FILE_NAME_BAND_…` calls them. */
export function bandsOf(spacecraft: string, sensor: string): Readonly<Record<string, LandsatBand>> {
  if (sensor.startsWith("MSS")) {
    return /[123]$/.test(spacecraft) ? MSS_1_TO_3 : MSS_4_AND_5;
  }
  return sensor.startsWith("ETM") ? ETM : sensor.startsWith("TM") ? TM : OLI_TIRS;
}

/** Other files of a product by their field: asset key, title, roles, and scale where it is fixed. */
export const LANDSAT_FILES: Readonly<Record<string, readonly [string, string, readonly string[], number?]>> = {
  FILE_NAME_THERMAL_RADIANCE: ["trad", "Thermal radiance", ["data"], 0.001],
  FILE_NAME_UPWELL_RADIANCE: ["urad", "Upwelled radiance", ["data"], 0.001],
  FILE_NAME_DOWNWELL_RADIANCE: ["drad", "Downwelled radiance", ["data"], 0.001],
  FILE_NAME_ATMOSPHERIC_TRANSMITTANCE: ["atran", "Atmospheric transmittance", ["data"], 0.0001],
  FILE_NAME_EMISSIVITY: ["emis", "Emissivity", ["data"], 0.0001],
  FILE_NAME_EMISSIVITY_STDEV: ["emsd", "Emissivity standard deviation", ["data"], 0.0001],
  FILE_NAME_CLOUD_DISTANCE: ["cdist", "Distance to clouds", ["data"], 0.01],
  FILE_NAME_ATMOSPHERIC_OPACITY: ["atmos_opacity", "Atmospheric opacity", ["data"], 0.001],
  FILE_NAME_QUALITY_L2_AEROSOL: ["qa_aerosol", "Aerosol quality", ["data-mask"]],
  FILE_NAME_QUALITY_L2_SURFACE_REFLECTANCE_CLOUD: ["cloud_qa", "Cloud quality", ["data-mask"]],
  FILE_NAME_QUALITY_L2_SURFACE_TEMPERATURE: ["qa", "Surface temperature quality", ["data"], 0.01],
  FILE_NAME_QUALITY_L1_PIXEL: ["qa_pixel", "Pixel quality", ["cloud", "cloud-shadow", "snow-ice", "water-mask"]],
  FILE_NAME_QUALITY_L1_RADIOMETRIC_SATURATION: ["qa_radsat", "Radiometric saturation", ["saturation"]],
  FILE_NAME_BAND_QUALITY: ["bqa", "Quality", ["data-mask"]],
  FILE_NAME_ANGLE_SENSOR_AZIMUTH_BAND_4: ["vaa", "View azimuth", ["metadata"]],
  FILE_NAME_ANGLE_SENSOR_ZENITH_BAND_4: ["vza", "View zenith", ["metadata"]],
  FILE_NAME_ANGLE_SOLAR_AZIMUTH_BAND_4: ["saa", "Sun azimuth", ["metadata"]],
  FILE_NAME_ANGLE_SOLAR_ZENITH_BAND_4: ["sza", "Sun zenith", ["metadata"]],
  FILE_NAME_ANGLE_COEFFICIENT: ["ang", "Angle coefficients", ["metadata"]],
  ANGLE_COEFFICIENT_FILE_NAME: ["ang", "Angle coefficients", ["metadata"]],
  FILE_NAME_METADATA_ODL: ["mtl.txt", "Product metadata", ["metadata"]],
  METADATA_FILE_NAME: ["mtl.txt", "Product metadata", ["metadata"]],
  FILE_NAME_METADATA_XML: ["mtl.xml", "Product metadata (XML)", ["metadata"]],
};
