import { REGISTRATION_TYPES } from "../model/requests.ts";

/** What release 2.0 calls the link to what was registered. */
export const RESULT = "resource-and-data-catalogue-link";

/** Types by the names that release 2.0 has for them, beside those of the requests before. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["item", "stac-item"],
  ["collection", "stac-collection"],
  ["catalog", "stac-catalog"],
  ...REGISTRATION_TYPES.map((type) => [type, type] as const),
]);

/** The type of a request; undefined for one that cannot be registered. */
export const toRegistrationType = (type: string): string | undefined => TYPES.get(type.toLowerCase());

const LINK = {
  type: "object",
  required: ["href"],
  properties: { href: { type: "string", format: "uri" }, rel: { type: "string" } },
};
const target = {
  title: "Catalogue",
  description: "The catalogue of this platform, by its STAC address; left out: the same.",
  minOccurs: 0,
  schema: LINK,
};
const outputs = {
  [RESULT]: { title: "What was registered, in the catalogue", schema: LINK },
};
const common = {
  version: "1.0.0",
  jobControlOptions: ["sync-execute", "async-execute", "dismiss"],
  outputTransmission: ["value"],
};

/** Process descriptions (OGC API Processes 1.0, §7.10) of what this service does. */
export const PROCESSES = [
  {
    ...common,
    id: "register",
    title: "Register",
    description: "Brings what an address leads to into the catalogue, and what is below it.",
    inputs: {
      type: { title: "What it is", schema: { type: "string", enum: [...TYPES.keys()] } },
      source: { title: "Where it is", schema: LINK },
      target,
    },
    outputs,
  },
  {
    ...common,
    id: "deregister",
    title: "Deregister",
    description: "Takes something out of the catalogue: a record by its id, or all that came from an address.",
    inputs: {
      id: { title: "Id of the record", minOccurs: 0, schema: { type: "string" } },
      source: { title: "Address that it was registered from", minOccurs: 0, schema: LINK },
      rel: { title: "What it is", minOccurs: 0, schema: { type: "string", enum: ["collection", "item"] } },
      target,
    },
    outputs,
  },
] as const;

export type ProcessId = (typeof PROCESSES)[number]["id"];
