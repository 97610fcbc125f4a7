/** A valid item, as clients write them. */
export const makeScene = (id: string, collection: string): object => ({
  type: "Feature",
  stac_version: "1.1.0",
  stac_extensions: [],
  id,
  collection,
  geometry: { type: "Point", coordinates: [10, 45] },
  bbox: [10, 45, 10, 45],
  properties: { datetime: "2024-06-01T10:00:00Z" },
  links: [],
  assets: {},
});

export const makeSceneCollection = (id: string): object => ({
  type: "Collection",
  stac_version: "1.1.0",
  id,
  description: "What was written while services were killed",
  license: "other",
  extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [["2015-01-01T00:00:00Z", null]] } },
  links: [],
});
