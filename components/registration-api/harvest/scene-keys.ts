/** Files that stand for something that can be registered. */
const SCENE =
  /\.(?:tiff?|jp2)$|_MTL\.(?:txt|xml)$|(?:^|\/)(?:M[OYC]D|V(?:NP|J1|J2)|AST_)[^/]*\.(?:hdf|h5)\.xml$|(?:^|\/)(?:MTD_MSIL(?:1C|2A)|xfdumanifest)\.xml$/i;
const STAC = /\.json$/i;
/** Side files are not registered by themselves. */
const SIDE = /_MTL\.json$|_stac\.json$|(?:^|\/)\./i;
/** Files beside an MTL, which names them: of Collection 1 and 2, and of scenes before collections. */
const LANDSAT_BAND =
  /(?:^|\/)L[A-Z]\d{2}_\w+_(?:SR|ST|QA)_\w+\.TIF$|(?:^|\/)L[A-Z]\d{2}_L\w{3}_\d{6}_\d{8}_\d{8}_\d{2}_\w{2}_\w+\.TIF$|(?:^|\/)L[A-Z]\d{14}[A-Z]{3}\d{2}_\w+\.TIF$/i;
const PRODUCT = /^((?:.*?\/)?(?:[^/]+\.(?:SAFE|SEN3)|S[123][A-D]_[A-Z0-9]{2}\w{40,}))\/(.+)$/i;
/** Of EOPF, by its consolidated metadata; other stores are part of what names them. */
const STORE = /^(.*?([^/]+\.zarr))\/(.+)$/i;
/** Files that describe a product, and those that are read beside them. */
const DESCRIBES = /^(?:manifest\.safe|xfdumanifest\.xml|MTD_MSIL\w+\.xml)$/i;
const READ_BESIDE = /^(?:GRANULE\/[^/]+\/MTD_TL\.xml|annotation\/[^/]+\.xml)$/i;

/** What an object of a bucket is part of. */
export interface SceneKey {
  /** Key of what is registered; of a product its folder. */
  readonly path: string;
  /** Whether the scene is there because this object is; else it only completes it. */
  readonly isMain: boolean;
}

/** What is to be registered because of an object; undefined for what says nothing by itself. */
export function toSceneKey(key: string): SceneKey | undefined {
  const [, folder, inner = ""] = PRODUCT.exec(key) ?? [];
  if (folder !== undefined) {
    const isMain = DESCRIBES.test(inner);
    return isMain || READ_BESIDE.test(inner) ? { path: folder, isMain } : undefined;
  }
  const [, store, name = "", part = ""] = STORE.exec(key) ?? [];
  if (store !== undefined) {
    const isMain = /^S[123][A-D]_/i.test(name) && /^(?:\.zmetadata|zarr\.json)$/.test(part);
    return isMain ? { path: store, isMain } : undefined;
  }
  return !SIDE.test(key) && !LANDSAT_BAND.test(key) && (SCENE.test(key) || STAC.test(key))
    ? { path: key, isMain: true }
    : undefined;
}
