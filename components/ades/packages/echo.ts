import type { ProcessDescription } from "./describe.ts";

const echoed = { title: "Echoed value", schema: {} };
const INPUTS: ProcessDescription["inputs"] = {
  stringInput: {
    title: "A text",
    schema: { type: "string", enum: ["Value1", "Value2", "Value3"] },
    minOccurs: 0,
    maxOccurs: 1,
  },
  measureInput: {
    title: "A number with a unit",
    schema: {
      type: "object",
      required: ["measurement", "uom"],
      properties: { measurement: { type: "number" }, uom: { type: "string" } },
    },
    minOccurs: 0,
    maxOccurs: 1,
  },
  dateInput: { title: "A date and time", schema: { type: "string", format: "date-time" }, minOccurs: 0, maxOccurs: 1 },
  doubleInput: {
    title: "A number",
    schema: { type: "number", format: "double", minimum: 0, maximum: 10, default: 5 },
    minOccurs: 0,
    maxOccurs: 1,
  },
  arrayInput: {
    title: "A list",
    schema: { type: "array", minItems: 2, maxItems: 10, items: { type: "integer" } },
    minOccurs: 0,
  },
  complexObjectInput: { title: "An object", schema: { type: "object" }, minOccurs: 0, maxOccurs: 1 },
  boundingBoxInput: {
    title: "A bounding box",
    schema: {
      type: "object",
      required: ["bbox"],
      properties: { bbox: { type: "array", items: { type: "number" } }, crs: { type: "string" } },
    },
    minOccurs: 0,
    maxOccurs: 1,
  },
};

/** The built-in process: gives back what it is given; for trying a client. */
export const ECHO: ProcessDescription = {
  id: "echo",
  title: "Echo",
  description: "Gives its inputs back as outputs.",
  version: "1.0.0",
  mutable: false,
  keywords: ["test"],
  jobControlOptions: ["sync-execute"],
  outputTransmission: ["value"],
  inputs: INPUTS,
  outputs: Object.fromEntries(Object.keys(INPUTS).map((name) => [name.replace("Input", "Output"), echoed])),
};

/** What echo answers. */
export function echo(inputs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name.replace("Input", "Output"), value]));
}
