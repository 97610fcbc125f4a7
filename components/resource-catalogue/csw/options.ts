import type { ElementSet } from "../mapping/to-dc.ts";
import { NS } from "../xml/namespaces.ts";
import type { CswInput } from "./input.ts";
import { OwsError } from "./ows-error.ts";
import { type OutputSchema, schemasOf } from "./versions.ts";

const FORMATS = new Set(["application/xml", "text/xml", "application/atom+xml"]);

/** The schema that records are wanted in. @throws {OwsError} for one that is not offered */
export function readOutputSchema({ parameters, version }: CswInput): OutputSchema {
  const format = parameters.get("outputformat") || "application/xml";
  if (!FORMATS.has(format)) {
    throw new OwsError(
      "InvalidParameterValue",
      "outputFormat",
      `The parameter outputFormat must be ${[...FORMATS].join(" or ")}, not ${JSON.stringify(format.slice(0, 60))}.`,
    );
  }
  const offered = schemasOf(version);
  const schema =
    parameters.get("outputschema") || (format === "application/atom+xml" ? NS.atom : (offered[0] as OutputSchema));
  const found = offered.find((entry) => entry === schema || (schema === `${NS.csw3}.0` && entry === NS.csw3));
  if (found === undefined) {
    throw new OwsError(
      "InvalidParameterValue",
      "outputSchema",
      `The parameter outputSchema must be one of ${offered.join(", ")}, not ${JSON.stringify(schema.slice(0, 100))}.`,
    );
  }
  return found;
}

/** Which elements of a record are wanted. @throws {OwsError} */
export function readElementSet({ parameters }: CswInput): ElementSet {
  const set = parameters.get("elementsetname") || "summary";
  if (set !== "brief" && set !== "summary" && set !== "full") {
    throw new OwsError(
      "InvalidParameterValue",
      "ElementSetName",
      `The parameter ElementSetName must be brief, summary or full, not ${JSON.stringify(set.slice(0, 60))}.`,
    );
  }
  return set;
}

/** A whole number. @throws {OwsError} */
export function readNumber(
  { parameters }: CswInput,
  name: string,
  { standard, minimum }: { standard: number; minimum: number },
): number {
  const text = parameters.get(name.toLowerCase());
  if (text === undefined || text === "") {
    return standard;
  }
  if (!/^\d{1,9}$/.test(text) || Number(text) < minimum) {
    throw new OwsError(
      "InvalidParameterValue",
      name,
      `The parameter ${name} must be a whole number from ${minimum} on, not ${JSON.stringify(text.slice(0, 60))}.`,
    );
  }
  return Number(text);
}
