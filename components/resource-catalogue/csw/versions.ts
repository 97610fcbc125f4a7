import { NS } from "../xml/namespaces.ts";

export type CswVersion = "2.0.2" | "3.0.0";

/** What differs between the versions of CSW. */
export interface CswDialect {
  readonly version: CswVersion;
  readonly csw: string;
  readonly ows: string;
  readonly schema: string;
  /** Version of exception reports. */
  readonly exceptions: string;
  /** Name of the attribute of exception reports that says their language (OGC 05-008 §8.4, OGC 06-121r9 §8.5). */
  readonly languageAttribute: string;
}

export const DIALECTS: Readonly<Record<CswVersion, CswDialect>> = {
  "2.0.2": {
    version: "2.0.2",
    csw: NS.csw2,
    ows: NS.ows,
    schema: "http://schemas.opengis.net/csw/2.0.2/CSW-discovery.xsd",
    exceptions: "1.2.0",
    languageAttribute: "language",
  },
  "3.0.0": {
    version: "3.0.0",
    csw: NS.csw3,
    ows: NS.ows2,
    schema: "http://schemas.opengis.net/cat/csw/3.0/cswAll.xsd",
    exceptions: "3.0.0",
    languageAttribute: "xml:lang",
  },
};

export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Schemas that records can be asked for in. */
export const OUTPUT_SCHEMAS = [NS.csw2, NS.csw3, NS.gmd, NS.atom] as const;
export type OutputSchema = (typeof OUTPUT_SCHEMAS)[number];

/** Schemas that a version declares. */
export const schemasOf = (version: CswVersion): readonly OutputSchema[] => [
  version === "2.0.2" ? NS.csw2 : NS.csw3,
  NS.gmd,
  NS.atom,
];

export const TYPE_NAMES = ["csw:Record", "gmd:MD_Metadata"] as const;

export const OPERATIONS: Readonly<Record<CswVersion, readonly string[]>> = {
  "2.0.2": [
    "GetCapabilities",
    "DescribeRecord",
    "GetDomain",
    "GetRecords",
    "GetRecordById",
    "GetRepositoryItem",
    "Transaction",
    "Harvest",
  ],
  "3.0.0": [
    "GetCapabilities",
    "GetDomain",
    "GetRecords",
    "GetRecordById",
    "GetRepositoryItem",
    "Transaction",
    "Harvest",
  ],
};
