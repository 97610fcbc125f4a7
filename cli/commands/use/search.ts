import { parseArgs } from "node:util";

import { PLATFORM_HELP, openSession, platformOption } from "../../client/session.ts";
import { formatTable } from "../../view/table.ts";
import { CommandError, type Command } from "../command.ts";
import { outputOption, wantsJson } from "../output-option.ts";

const USAGE = `
Usage: swath search [options]

Finds items in the catalogue, newest first.

  --collection ID   only of this collection; may be given again
  --bbox W,S,E,N    only what meets this box, in degrees
  --datetime TIME   an instant or an interval of RFC 3339: 2024-05-01/2024-06-01, 2024-05-01/..
  --text WORDS      only what has these words
  --filter CQL2     a condition: "eo:cloud_cover < 10"
  --limit N         at most so many (default: 10)
  --workspace NAME  the catalogue of this workspace
  -o json           as a GeoJSON FeatureCollection
${PLATFORM_HELP}`;

interface Item {
  readonly id: string;
  readonly collection?: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export const searchCommand: Command = {
  name: "search",
  summary: "find scenes and results in a platform's catalogue",
  usage: USAGE,
  run: async ({ args, env, stdout, stderr }) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        collection: { type: "string", multiple: true },
        bbox: { type: "string" },
        datetime: { type: "string" },
        text: { type: "string" },
        filter: { type: "string" },
        limit: { type: "string", default: "10" },
        workspace: { type: "string" },
        ...outputOption,
        ...platformOption,
      },
    });
    const asJson = wantsJson(values);
    const session = await openSession(env, values.platform);
    const parameters = new URLSearchParams({
      limit: readLimit(values.limit),
      sortby: "-properties.datetime",
      ...(values.bbox !== undefined && { bbox: readBbox(values.bbox) }),
      ...(values.datetime !== undefined && { datetime: readTime(values.datetime) }),
      ...(values.collection !== undefined && { collections: values.collection.join(",") }),
      ...(values.text !== undefined && { q: values.text }),
      ...(values.filter !== undefined && { filter: values.filter, "filter-lang": "cql2-text" }),
    });
    const catalogue = session.address("resource-catalogue", values.workspace);
    const response = await session.request(`${catalogue}/stac/search?${parameters.toString()}`);
    const found = (await response.json()) as { features: readonly Item[]; numberMatched?: number };
    if (asJson) {
      stdout.write(`${JSON.stringify(found, null, 2)}\n`);
      return 0;
    }
    if (found.features.length === 0) {
      stderr.write("nothing found\n");
      return 0;
    }
    stdout.write(formatTable([["COLLECTION", "ITEM", "TIME", "CLOUD"], ...found.features.map(toRow)]));
    if (found.numberMatched !== undefined && found.numberMatched > found.features.length) {
      stderr.write(`${found.features.length} of ${found.numberMatched}; more with --limit\n`);
    }
    return 0;
  },
};

function toRow({ id, collection = "", properties }: Item): readonly string[] {
  const { datetime, start_datetime: start, "eo:cloud_cover": cloud } = properties;
  const time = typeof datetime === "string" ? datetime : typeof start === "string" ? start : "";
  return [collection, id, time, typeof cloud === "number" ? `${Math.round(cloud)} %` : ""];
}

function readLimit(text: string): string {
  if (!/^[1-9]\d{0,3}$/.test(text)) {
    throw new CommandError(`--limit ${text} is not a number from 1 to 9999`, 2);
  }
  return text;
}

function readBbox(text: string): string {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (numbers.length !== 4 || numbers.some((number) => !Number.isFinite(number))) {
    throw new CommandError(`--bbox ${text} is not a box of four numbers: west,south,east,north in degrees`, 2);
  }
  return numbers.join(",");
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** RFC 3339, with a day alone meaning the whole of it. */
function readTime(text: string): string {
  const [start = "", end = start, more] = text.split("/");
  if (more !== undefined || text === "") {
    throw new CommandError(`--datetime ${text} is neither an instant nor an interval: 2024-05-01/2024-06-01`, 2);
  }
  return `${DAY.test(start) ? `${start}T00:00:00Z` : start}/${DAY.test(end) ? `${end}T23:59:59.999Z` : end}`;
}
