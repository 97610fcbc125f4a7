import { type XmlElement, childOf, childrenOf, textOf } from "../xml/element.ts";
import type { XmlDocument } from "../xml/read.ts";
import { NS } from "../xml/namespaces.ts";
import { OwsError } from "./ows-error.ts";
import { type SoapVersion, openEnvelope } from "./soap.ts";
import { type CswVersion, OPERATIONS } from "./versions.ts";

/** Ids, names of elements and parameters of a request: a hundred thousand of them would hold up others while they are looked at. */
const MAX_PARAMETERS = 5000;

/** A request of CSW, whichever way it was sent. */
export interface CswInput {
  readonly operation: string;
  readonly version: CswVersion;
  readonly soap?: SoapVersion;
  /** Parameters by name in lower case: of the query string, or attributes and elements of the document. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly constraint?: { readonly filter?: XmlElement; readonly cql?: string };
  readonly sortBy?: XmlElement;
  readonly elementNames: readonly string[];
  /** Set for requests that are documents. */
  readonly document?: XmlDocument & { readonly request: XmlElement };
}

/** A request by key-value pairs. @throws {OwsError} for parameters of CSW itself that are missing or wrong */
export function readKvp(query: Readonly<Record<string, unknown>>): CswInput {
  const parameters = new Map<string, string>();
  for (const [name, value] of Object.entries(query)) {
    const key = name.toLowerCase();
    if (typeof value !== "string" || parameters.has(key)) {
      throw new OwsError("InvalidParameterValue", name, `The parameter ${name.slice(0, 60)} must occur once.`);
    }
    parameters.set(key, value);
  }
  // The bare address shows what is there.
  if (parameters.size === 0) {
    parameters.set("service", "CSW").set("request", "GetCapabilities");
  }
  const provided = parameters.get("constraint");
  const names =
    parameters
      .get("elementname")
      ?.split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "") ?? [];
  return {
    ...readCommon(parameters, undefined),
    parameters,
    ...(provided !== undefined && provided !== "" && { constraint: { cql: provided } }),
    elementNames: names,
  };
}

/** A request by a document, perhaps in a SOAP envelope. @throws {OwsError} */
export function readDocument(document: XmlDocument): CswInput {
  const { request, soap } = openEnvelope(document.root);
  const parameters = new Map<string, string>();
  for (const [name, value] of request.attributes) {
    parameters.set(name.toLowerCase(), value);
  }
  parameters.set("request", request.name);
  const query = childOf(request, "Query");
  for (const child of listParameters(request, query)) {
    const text = textOf(child);
    if (text !== undefined) {
      const key = child.name.toLowerCase();
      const known = parameters.get(key);
      parameters.set(key, known === undefined || child.name !== "Id" ? text : `${known},${text}`);
    }
  }
  for (const [name, value] of query?.attributes ?? []) {
    parameters.set(name.toLowerCase(), value);
  }
  const accepted = childrenOf(childOf(request, "AcceptVersions"), "Version").flatMap(
    (version) => textOf(version) ?? [],
  );
  if (accepted.length > 0) {
    parameters.set("acceptversions", accepted.join(","));
  }
  const constraint = readConstraint(childOf(query, "Constraint"));
  const sortBy = childOf(query, "SortBy");
  return {
    ...readCommon(parameters, request.namespace),
    ...(soap && { soap }),
    parameters,
    ...(constraint && { constraint }),
    ...(sortBy && { sortBy }),
    elementNames: childrenOf(query, "ElementName").flatMap((name) => textOf(name) ?? []),
    document: { ...document, request },
  };
}

/** Elements of text alone; others are lists, filters and records. @throws {OwsError} for too many */
function listParameters(...parents: readonly (XmlElement | undefined)[]): readonly XmlElement[] {
  const found: XmlElement[] = [];
  for (const parent of parents) {
    for (const child of parent?.children ?? []) {
      if (child.children.length === 0) {
        found.push(child);
      }
      if (found.length > MAX_PARAMETERS) {
        throw new OwsError(
          "InvalidParameterValue",
          child.name.slice(0, 60),
          `A request must not have more than ${MAX_PARAMETERS} elements of text; ask for fewer at once.`,
        );
      }
    }
  }
  return found;
}

/** `csw:Constraint`: a filter or a CQL text. @throws {OwsError} for one that has neither */
export function readConstraint(element: XmlElement | undefined): CswInput["constraint"] {
  if (element === undefined) {
    return undefined;
  }
  const filter = childOf(element, "Filter");
  const cql = textOf(childOf(element, "CqlText"));
  if (filter === undefined && cql === undefined) {
    throw new OwsError(
      "InvalidParameterValue",
      "Constraint",
      "Constraint must hold ogc:Filter, fes:Filter or CqlText.",
    );
  }
  return filter === undefined ? { cql: cql as string } : { filter };
}

function readCommon(
  parameters: ReadonlyMap<string, string>,
  namespace: string | undefined,
): Pick<CswInput, "operation" | "version"> {
  const service = parameters.get("service");
  const version = readVersion(parameters, namespace);
  if (service === undefined) {
    throw new OwsError("MissingParameterValue", "service", "The parameter service must be CSW.");
  }
  if (service !== "CSW") {
    throw new OwsError(
      "InvalidParameterValue",
      "service",
      `The parameter service must be CSW, not ${JSON.stringify(service.slice(0, 60))}.`,
    );
  }
  const operation = parameters.get("request");
  if (operation === undefined) {
    throw new OwsError(
      "MissingParameterValue",
      "request",
      `The parameter request must be one of ${OPERATIONS[version].join(", ")}.`,
    );
  }
  return { operation, version };
}

/** The version that a request names, as far as it can be told: exceptions are sent in it. */
export function guessVersion(parameters: ReadonlyMap<string, string>, namespace?: string): CswVersion {
  const named = `${parameters.get("version") ?? ""},${parameters.get("acceptversions") ?? ""}`;
  return namespace === NS.csw2 || (namespace !== NS.csw3 && named.includes("2.0.2") && !named.includes("3.0"))
    ? "2.0.2"
    : "3.0.0";
}

function readVersion(parameters: ReadonlyMap<string, string>, namespace: string | undefined): CswVersion {
  const accepted = parameters.get("acceptversions");
  if (parameters.get("request") === "GetCapabilities" && accepted !== undefined) {
    const version = accepted
      .split(",")
      .map((entry) => entry.trim())
      .find((entry): entry is CswVersion => entry === "2.0.2" || entry === "3.0.0");
    if (version === undefined) {
      throw new OwsError(
        "VersionNegotiationFailed",
        "acceptversions",
        `None of the versions ${accepted.slice(0, 60)} is offered; 3.0.0 and 2.0.2 are.`,
      );
    }
    return version;
  }
  const version = parameters.get("version");
  if (version !== undefined && version !== "" && version !== "2.0.2" && version !== "3.0.0") {
    throw new OwsError(
      "InvalidParameterValue",
      "version",
      `The parameter version must be 3.0.0 or 2.0.2, not ${JSON.stringify(version.slice(0, 60))}.`,
    );
  }
  return namespace === NS.csw2 ? "2.0.2" : namespace === NS.csw3 ? "3.0.0" : version === "2.0.2" ? "2.0.2" : "3.0.0";
}
