import { hash } from "node:crypto";

import type pg from "pg";

import {
  deleteHarvester,
  findHarvester,
  listCreatedBy,
  putHarvester,
  repeatFailedRun,
  resumeRun,
} from "../store/harvesters.ts";
import { addTask } from "../store/tasks.ts";
import { OFFERING, type OfferedCollection } from "./cloud-data-offering.ts";
import { readHarvester } from "./config.ts";

/** A provider's data offering, as the deployment is told of it. */
export interface CloudData {
  readonly url: string;
  readonly type: "OpenSearch" | "STACAPI";
  /** west,south,east,north */
  readonly area: string;
  readonly time: { readonly begin?: string; readonly end?: string };
  readonly schedule: string;
}

/** Who the harvesters of the offering are from. */
export const CLOUD_DATA = "CLOUDDATA_DATA_SPECIFICATION";
const NAME_PREFIX = "CLOUDDATA-";

/** Keeps the harvesters and collections of a provider's offering as the deployment wants them; without an offering there are none. */
export async function deployCloudData(pool: pg.Pool, requested: CloudData | undefined): Promise<void> {
  const harvesters = requested === undefined ? [] : OFFERING.map((offered) => toForm(requested, offered));
  const names = new Set(harvesters.map(({ name }) => name));
  for (const name of await listCreatedBy(pool, CLOUD_DATA)) {
    if (!names.has(name)) {
      await deleteHarvester(pool, "", name);
    }
  }
  for (const form of harvesters) {
    const config = readHarvester(form);
    const before = await findHarvester(pool, "", config.name);
    // One that is as it should be keeps its time and cursor.
    if (before === undefined || toText(before.config) !== toText(config)) {
      await putHarvester(pool, { scope: "", config, createdBy: CLOUD_DATA });
    } else {
      // How the storage is reached may be another since the last start.
      await resumeRun(pool, { scope: "", name: config.name });
      await repeatFailedRun(pool, { scope: "", name: config.name });
    }
  }
  for (const { collections } of requested === undefined ? [] : OFFERING) {
    for (const document of collections) {
      await addTask(pool, {
        kind: "collection",
        scope: "",
        orderKey: `id ${document.id}`,
        payload: { document },
        requestedBy: CLOUD_DATA,
        idempotencyKey: `${CLOUD_DATA} ${document.id} ${hash("sha256", JSON.stringify(document))}`,
      });
    }
  }
}

function toForm({ url, type, area, time, schedule }: CloudData, offered: OfferedCollection) {
  const base = url.replace(/\/+$/, "");
  const isOpenSearch = type === "OpenSearch";
  return {
    name: `${NAME_PREFIX}${offered.name}`,
    resource: {
      url: isOpenSearch ? `${base}/${offered.catalogue}/describe.xml` : base,
      type,
      query: {
        time,
        ...(area !== "" && { bbox: area }),
        ...(isOpenSearch ? offered.parameters && { parameters: offered.parameters } : { collection: offered.stac }),
      },
      format_config: {
        property_mapping: {
          start_datetime: "startDate",
          end_datetime: "completionDate",
          productIdentifier: "productIdentifier",
        },
      },
    },
    // What a STAC API says of its items is whole.
    postprocess: isOpenSearch ? [{ type: "product" }] : [],
    schedule,
  };
}

/** As text, with members in one order: the database gives them in its own. */
function toText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
