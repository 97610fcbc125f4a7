import { openApiType } from "@swath/service/send-openapi";
import { GEOJSON_TYPE, JSON_TYPE, type Link, SCHEMA_TYPE } from "../stac/links.ts";

export const ogcCollectionUrl = (base: string, collection: string): string =>
  `${base}/collections/${encodeURIComponent(collection)}`;

export const ogcRecordUrl = (base: string, collection: string, id: string): string =>
  `${ogcCollectionUrl(base, collection)}/items/${encodeURIComponent(id)}`;

export function ogcLandingLinks(base: string): readonly Link[] {
  return [
    { rel: "self", type: JSON_TYPE, href: `${base}/?f=json` },
    { rel: "service-desc", type: openApiType("3.0"), href: `${base}/openapi`, title: "OpenAPI document" },
    { rel: "service-doc", type: "text/html", href: `${base}/docs`, title: "API documentation" },
    { rel: "conformance", type: JSON_TYPE, href: `${base}/conformance`, title: "Conformance classes" },
    { rel: "data", type: JSON_TYPE, href: `${base}/collections`, title: "Collections" },
    {
      rel: "http://www.opengis.net/def/rel/ogc/1.0/data",
      type: JSON_TYPE,
      href: `${base}/collections`,
      title: "Collections",
    },
    {
      rel: "http://www.opengis.net/def/rel/ogc/1.0/ogc-catalog",
      type: JSON_TYPE,
      href: ogcCollectionUrl(base, "metadata:main"),
      title: "All records",
    },
    { rel: "alternate", type: JSON_TYPE, href: `${base}/stac`, title: "STAC API" },
  ];
}

export function ogcCollectionLinks(base: string, collection: string): readonly Link[] {
  const self = ogcCollectionUrl(base, collection);
  return [
    { rel: "self", type: JSON_TYPE, href: self },
    { rel: "root", type: JSON_TYPE, href: `${base}/` },
    { rel: "items", type: GEOJSON_TYPE, href: `${self}/items`, title: "Records" },
    { rel: "http://www.opengis.net/def/rel/ogc/1.0/queryables", type: SCHEMA_TYPE, href: `${self}/queryables` },
    { rel: "http://www.opengis.net/def/rel/ogc/1.0/sortables", type: SCHEMA_TYPE, href: `${self}/sortables` },
    {
      rel: "alternate",
      type: JSON_TYPE,
      href: `${base}/stac/collections/${encodeURIComponent(collection)}`,
      title: "STAC",
    },
  ];
}
