import type { HarvesterConfig } from "./config.ts";

/** A harvester in the form of configuration files, as `readHarvester` takes it. Values of headers, which may be keys, are null. */
export function toConfigForm({ resource, postprocess, ...config }: HarvesterConfig): object {
  const { query, propertyMapping, pageSize, headers, url, type } = resource;
  const { begin, end, ...narrowed } = query;
  const hasTime = begin !== undefined || end !== undefined;
  return {
    name: config.name,
    resource: {
      url,
      type,
      query: {
        ...narrowed,
        ...(hasTime && { time: { ...(begin !== undefined && { begin }), ...(end !== undefined && { end }) } }),
      },
      ...(Object.keys(propertyMapping).length > 0 && { format_config: { property_mapping: propertyMapping } }),
      ...(Object.keys(headers).length > 0 && {
        headers: Object.fromEntries(Object.keys(headers).map((name) => [name, null])),
      }),
      page_size: pageSize,
    },
    filter: config.filter,
    postprocess: postprocess.map((each) => ({ type: each })),
    deletions: config.deletions,
    pause_ms: config.pauseMs,
    ...(config.collection !== undefined && { collection: config.collection }),
    ...(config.incremental !== undefined && { incremental: config.incremental }),
    ...(config.schedule !== undefined && { schedule: config.schedule }),
  };
}

type Json = Readonly<Record<string, unknown>>;

/** A form with the values of headers that it leaves as they are (null), for the same host only: keys are for who they were given for. */
export function withKeptHeaders(form: Json, before: HarvesterConfig | undefined): Json {
  const resource = form["resource"] as Json | undefined;
  const headers = resource?.["headers"];
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    return form;
  }
  const url = resource?.["url"];
  const isSameHost =
    before !== undefined &&
    typeof url === "string" &&
    URL.canParse(url) &&
    URL.canParse(before.resource.url) &&
    new URL(url).origin === new URL(before.resource.url).origin;
  const filled = Object.entries(headers as Json).flatMap(([name, value]) => {
    const kept = isSameHost ? before.resource.headers[name] : undefined;
    return value !== null ? [[name, value]] : kept === undefined ? [] : [[name, kept]];
  });
  return { ...form, resource: { ...resource, headers: Object.fromEntries(filled) } };
}
