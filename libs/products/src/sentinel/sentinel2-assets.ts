import type { StacAsset } from "@swath/stac";

import type { ProductFiles } from "../product-files.ts";
import { MSI_BANDS, SCL_CLASSES } from "./sentinel2-bands.ts";
import { type XmlNode, findAll, findNumber, findText, textOf } from "../xml.ts";

interface Grid {
  readonly shape: readonly [rows: number, columns: number];
  readonly transform: readonly number[];
  readonly bbox: readonly number[];
}

const NATIVE: ReadonlyMap<string, number> = new Map(Object.entries<number>({ TCI: 10, AOT: 20, WVP: 20, SCL: 20 }));

/** Assets of the images that the product's metadata list. */
export function describeImages(product: XmlNode, tile: XmlNode, files: ProductFiles): Record<string, StacAsset> {
  const grids = readGrids(tile);
  const scales = readScales(product);
  const isTiff = hasTiffImages(product);
  const images = [...findAll(product, "IMAGE_FILE"), ...findAll(product, "IMAGE_ID")].flatMap((node) => {
    const path = textOf(node);
    return path === undefined ? [] : [path];
  });
  return Object.fromEntries(
    images.flatMap((image) => {
      const [, name = "", metres] = /_([A-Z0-9]{3})(?:_(\d\d)m)?$/.exec(image) ?? [];
      const resolution = metres === undefined ? (MSI_BANDS[name]?.gsd ?? NATIVE.get(name) ?? 10) : Number(metres);
      const found = files.paths.find((path) => path.startsWith(`${image}.`));
      const path = found ?? `${image}.${isTiff ? "tif" : "jp2"}`;
      const described = describeImage(name, resolution, scales);
      if (described === undefined) {
        return [];
      }
      const { key, native, asset } = described;
      const grid = grids.get(resolution);
      return [
        [
          native === resolution ? key : `${key}_${resolution}m`,
          {
            href: files.href(path),
            type: /\.tiff?$/i.test(path) ? "image/tiff; application=geotiff; profile=cloud-optimized" : "image/jp2",
            ...asset,
            gsd: resolution,
            ...(grid && { "proj:shape": grid.shape, "proj:transform": grid.transform, "proj:bbox": grid.bbox }),
          },
        ] as const,
      ];
    }),
  );
}

const isGeotiff = (format: unknown) => typeof format === "string" && format.toLowerCase() === "geotiff";

/** Some processors write GeoTIFF where the agency writes JPEG 2000. */
export function hasTiffImages(product: XmlNode): boolean {
  return findAll(product, "Granule").some(
    (granule) => typeof granule !== "string" && isGeotiff(granule["@imageFormat"]),
  );
}

interface Scales {
  readonly reflectance: number;
  readonly aot: number;
  readonly wvp: number;
  /** What is added to numbers of a band before they are divided, since processing baseline 04.00. */
  readonly offsets: ReadonlyMap<number, number>;
}

function readScales(product: XmlNode): Scales {
  const offsets = [...findAll(product, "BOA_ADD_OFFSET"), ...findAll(product, "RADIO_ADD_OFFSET")].flatMap((node) =>
    typeof node === "string" ? [] : [[Number(node["@band_id"]), Number(textOf(node) ?? 0)] as const],
  );
  return {
    reflectance:
      findNumber(product, "BOA_QUANTIFICATION_VALUE") ?? findNumber(product, "QUANTIFICATION_VALUE") ?? 10_000,
    aot: findNumber(product, "AOT_QUANTIFICATION_VALUE") ?? 1000,
    wvp: findNumber(product, "WVP_QUANTIFICATION_VALUE") ?? 1000,
    offsets: new Map(offsets),
  };
}

interface DescribedImage {
  readonly key: string;
  /** The resolution that the asset without a suffix has. */
  readonly native: number;
  readonly asset: Omit<StacAsset, "href">;
}

function describeImage(
  name: string,
  resolution: number,
  { reflectance, aot, wvp, offsets }: Scales,
): DescribedImage | undefined {
  const msi = MSI_BANDS[name];
  if (msi !== undefined) {
    const offset = (offsets.get(msi.index) ?? 0) / reflectance;
    const bands = [
      {
        ...spectral(name),
        data_type: "uint16",
        nodata: 0,
        "raster:scale": 1 / reflectance,
        "raster:offset": offset,
        "raster:spatial_resolution": resolution,
      },
    ];
    return {
      key: msi.key,
      native: msi.gsd,
      asset: { title: `${msi.title} - ${resolution}m`, roles: ["data", "reflectance"], bands },
    };
  }
  const number = (title: string, quantification: number, unit?: string) => ({
    title,
    roles: ["data"],
    bands: [
      {
        name,
        data_type: "uint16",
        nodata: 0,
        ...(unit !== undefined && { unit }),
        "raster:scale": 1 / quantification,
        "raster:offset": 0,
        "raster:spatial_resolution": resolution,
      },
    ],
  });
  switch (name) {
    case "TCI":
      return {
        key: "visual",
        native: 10,
        asset: {
          title: "True color image",
          roles: ["visual"],
          bands: ["B04", "B03", "B02"].map((each) => ({ ...spectral(each), data_type: "uint8", nodata: 0 })),
        },
      };
    case "AOT":
      return { key: "aot", native: 20, asset: number("Aerosol optical thickness (AOT)", aot) };
    case "WVP":
      return { key: "wvp", native: 20, asset: number("Water vapour (WVP)", wvp, "cm") };
    case "SCL":
      return {
        key: "scl",
        native: 20,
        asset: {
          title: "Scene classification map (SCL)",
          roles: ["data"],
          bands: [{ name: "SCL", data_type: "uint8", nodata: 0, "classification:classes": SCL_CLASSES }],
        },
      };
    default:
      return undefined;
  }
}

function spectral(name: string) {
  const msi = MSI_BANDS[name];
  return {
    name,
    ...(msi && {
      "eo:common_name": msi.commonName,
      "eo:center_wavelength": msi.wavelength,
      "eo:full_width_half_max": msi.width,
    }),
  };
}

function readGrids(tile: XmlNode): ReadonlyMap<number, Grid> {
  const grids = new Map<number, Grid>();
  for (const size of findAll(tile, "Size")) {
    const resolution = typeof size === "string" ? Number.NaN : Number(size["@resolution"]);
    const position = findAll(tile, "Geoposition").find(
      (node) => typeof node !== "string" && Number(node["@resolution"]) === resolution,
    );
    const [rows, columns] = [findNumber(size, "NROWS"), findNumber(size, "NCOLS")];
    const [x, y] = [findNumber(position, "ULX"), findNumber(position, "ULY")];
    if (rows !== undefined && columns !== undefined && x !== undefined && y !== undefined) {
      grids.set(resolution, {
        shape: [rows, columns],
        transform: [resolution, 0, x, 0, -resolution, y],
        bbox: [x, y - rows * resolution, x + columns * resolution, y],
      });
    }
  }
  return grids;
}

/** Metadata files and the preview. */
export function describeMetadata(
  files: ProductFiles,
  {
    product,
    tile,
    granule,
    image,
    datastrip,
    isTiff,
  }: {
    readonly product: string;
    readonly tile: string;
    readonly granule: string;
    /** What names of images begin with: tile and time. */
    readonly image: string;
    readonly datastrip: string | undefined;
    readonly isTiff: boolean;
  },
): Record<string, StacAsset> {
  const xml = (path: string): StacAsset => ({ href: files.href(path), type: "application/xml", roles: ["metadata"] });
  const level = /MSIL(\w\w)/.exec(product)?.[1] ?? "";
  // A place that cannot be listed is believed to have what every product has.
  const exists = (path: string): boolean => files.paths.length === 0 || files.paths.includes(path);
  const preview = (isTiff ? ["tif", "jp2"] : ["jp2", "tif"])
    .map((ending) => `GRANULE/${granule}/QI_DATA/${image}_PVI.${ending}`)
    .find(exists);
  return {
    safe_manifest: xml("manifest.safe"),
    product_metadata: xml(product),
    granule_metadata: xml(tile),
    ...(exists("INSPIRE.xml") && { inspire_metadata: xml("INSPIRE.xml") }),
    ...(datastrip !== undefined && exists(datastrip) && { datastrip_metadata: xml(datastrip) }),
    ...(preview !== undefined && {
      preview: {
        href: files.href(preview),
        type: preview.endsWith("tif") ? "image/tiff; application=geotiff" : "image/jp2",
        title: `Preview of ${level}`,
        roles: ["overview"],
      },
    }),
  };
}

/** Percentages of the scene's contents, as properties. */
export function readQuality(product: XmlNode, tile: XmlNode): Readonly<Record<string, number | undefined>> {
  const content = findAll(tile, "Image_Content_QI")[0] ?? findAll(product, "Image_Content_QI")[0];
  const of = (name: string): number | undefined => findNumber(content, name) ?? findNumber(product, name);
  return {
    "s2:degraded_msi_data_percentage": of("DEGRADED_MSI_DATA_PERCENTAGE"),
    "s2:nodata_pixel_percentage": of("NODATA_PIXEL_PERCENTAGE"),
    "s2:saturated_defective_pixel_percentage": of("SATURATED_DEFECTIVE_PIXEL_PERCENTAGE"),
    "s2:dark_features_percentage": of("DARK_FEATURES_PERCENTAGE"),
    "s2:cloud_shadow_percentage": of("CLOUD_SHADOW_PERCENTAGE"),
    "s2:vegetation_percentage": of("VEGETATION_PERCENTAGE"),
    "s2:not_vegetated_percentage": of("NOT_VEGETATED_PERCENTAGE"),
    "s2:water_percentage": of("WATER_PERCENTAGE"),
    "s2:unclassified_percentage": of("UNCLASSIFIED_PERCENTAGE"),
    "s2:medium_proba_clouds_percentage": of("MEDIUM_PROBA_CLOUDS_PERCENTAGE"),
    "s2:high_proba_clouds_percentage": of("HIGH_PROBA_CLOUDS_PERCENTAGE"),
    "s2:thin_cirrus_percentage": of("THIN_CIRRUS_PERCENTAGE"),
    "s2:snow_ice_percentage": of("SNOW_ICE_PERCENTAGE"),
    "eo:snow_cover": of("SNOW_ICE_PERCENTAGE"),
    "eo:cloud_cover": of("CLOUDY_PIXEL_PERCENTAGE") ?? findNumber(product, "Cloud_Coverage_Assessment"),
    ...(findText(content, "SNOW_ICE_PERCENTAGE") === undefined && { "eo:snow_cover": undefined }),
  };
}
