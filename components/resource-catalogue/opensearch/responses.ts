import type { FastifyRequest } from "fastify";

import { atomLinks } from "../csw/render-records.ts";
import { type RecordSummary, summarize } from "../mapping/summary.ts";
import { ATOM_NAMESPACES, toAtomEntry } from "../mapping/to-atom.ts";
import type { ViewLinks } from "../model/view-links.ts";
import type { StoredRecord } from "../model/record.ts";
import { element, escapeXml } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import { PARAMETERS } from "./parameters.ts";

export const ATOM_TYPE = "application/atom+xml; charset=utf-8";
export const GEOJSON_TYPE = "application/geo+json; charset=utf-8";

/** A page of results with what a client needs to go on. */
export interface ResultPage {
  readonly title: string;
  readonly records: readonly StoredRecord[];
  readonly total: number;
  readonly startIndex: number;
  readonly count: number;
  readonly hasNext: boolean;
  /** The request, without an index. */
  readonly url: URL;
  readonly description: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly viewLinks: ViewLinks;
}

/** Atom (OGC 10-032r8 §9.2). */
export function renderFeed(request: FastifyRequest, page: ResultPage): string {
  const { title, records, total, startIndex, count, description, parameters, viewLinks } = page;
  const links = pageLinks(page).map(
    ({ rel, href }) => `<link rel="${rel}" type="application/atom+xml" href="${escapeXml(href)}"/>`,
  );
  const entries = records.map((record) => toAtomEntry(summarize(record, viewLinks), atomLinks(request, record)));
  const query = PARAMETERS.filter(({ name }) => parameters.has(name)).map(
    ({ name, token }) => ` ${token}="${escapeXml(parameters.get(name) ?? "")}"`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<feed ${ATOM_NAMESPACES} xmlns:os="${NS.opensearch}" xmlns:geo="${NS.opensearchGeo}" xmlns:time="${NS.opensearchTime}" xmlns:eo="${NS.opensearchEo}">${element("id", page.url.href)}${element("title", title)}<updated>${new Date().toISOString()}</updated><author><name>Resource catalogue</name></author><generator>Swath</generator><os:totalResults>${total}</os:totalResults><os:startIndex>${startIndex}</os:startIndex><os:itemsPerPage>${count}</os:itemsPerPage><os:Query role="request"${query.join("")}/>${links.join("")}<link rel="search" type="application/opensearchdescription+xml" href="${escapeXml(description)}"/>${entries.join("")}</feed>`;
}

/** GeoJSON (OGC 17-047r1). */
export function renderGeoJson(request: FastifyRequest, page: ResultPage): string {
  const { title, records, total, startIndex, count, url, description, viewLinks } = page;
  return JSON.stringify({
    type: "FeatureCollection",
    id: url.href,
    properties: {
      title,
      updated: new Date().toISOString(),
      creator: "Resource catalogue",
      totalResults: total,
      startIndex,
      itemsPerPage: count,
      links: {
        ...Object.fromEntries(pageLinks(page).map(({ rel, href }) => [rel, [{ href, type: "application/geo+json" }]])),
        search: [{ href: description, type: "application/opensearchdescription+xml" }],
      },
    },
    features: records.map((record) => toFeature(request, record, viewLinks)),
  });
}

function toFeature(request: FastifyRequest, record: StoredRecord, viewLinks: ViewLinks): unknown {
  const summary = summarize(record, viewLinks);
  const { self, alternates } = atomLinks(request, record);
  const { id, title, abstract, collection, modified, created, subjects, time, geometry, bbox, references } = summary;
  const inRole = (matches: (reference: RecordSummary["references"][number]) => boolean): unknown[] =>
    references
      .filter(matches)
      .map(({ href, type, title: label }) => ({ href, ...(type && { type }), ...(label && { title: label }) }));
  return {
    type: "Feature",
    id: self,
    geometry,
    ...(bbox && { bbox }),
    properties: {
      identifier: id,
      title,
      ...(abstract !== undefined && { abstract }),
      ...(time && { date: time.start === time.end ? time.start : `${time.start ?? ""}/${time.end ?? ""}` }),
      parentIdentifier: collection,
      updated: modified,
      ...(created !== undefined && { published: created }),
      ...(subjects.length > 0 && { keyword: subjects }),
      ...toAcquisition(summary),
      links: {
        alternates: alternates.map(({ href, type, title: label }) => ({ href, type, title: label })),
        data: inRole(({ rel }) => rel === "enclosure"),
        previews: inRole(({ isThumbnail }) => isThumbnail),
        related: inRole(({ rel, isThumbnail }) => rel !== "enclosure" && !isThumbnail),
      },
    },
  };
}

function toAcquisition({ platform, instruments, cloudCover }: RecordSummary): object {
  const [instrument] = instruments;
  return {
    ...((platform !== undefined || instrument !== undefined) && {
      acquisitionInformation: [
        {
          ...(platform !== undefined && { platform: { platformShortName: platform } }),
          ...(instrument !== undefined && { instrument: { instrumentShortName: instrument } }),
        },
      ],
    }),
    ...(cloudCover !== undefined && { productInformation: { cloudCover } }),
  };
}

function pageLinks({ url, startIndex, count, total, hasNext }: ResultPage): { rel: string; href: string }[] {
  const at = (index: number): string => {
    const moved = new URL(url);
    for (const name of new URLSearchParams(moved.search).keys()) {
      if (/^(?:startindex|startpage|startposition|startrecord|page)$/i.test(name)) {
        moved.searchParams.delete(name);
      }
    }
    moved.searchParams.set("startIndex", String(index));
    return moved.href;
  };
  const size = Math.max(count, 1);
  const last = Math.max(1, Math.floor((total - 1) / size) * size + 1);
  return [
    { rel: "self", href: url.href },
    { rel: "first", href: at(1) },
    ...(startIndex > 1 ? [{ rel: "previous", href: at(Math.max(1, startIndex - size)) }] : []),
    ...(hasNext && count > 0 ? [{ rel: "next", href: at(startIndex + count) }] : []),
    { rel: "last", href: at(last) },
  ];
}
