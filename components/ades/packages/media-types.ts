/** Application packages as CWL itself; the text may be YAML or JSON, whatever the type says. */
export const CWL_TYPES: readonly string[] = [
  "application/cwl",
  "application/cwl+yaml",
  "application/cwl+json",
  "application/x-cwl",
  "application/x-yaml",
  "application/yaml",
  "text/yaml",
];

/** JSON that holds a package, or says where one is (OGC 20-044 requirements class ogcapppkg). */
const OGC_TYPES: readonly string[] = ["application/ogcapppkg+json", "application/ogcapppkg+yaml", "application/json"];

/** The same written in YAML. */
export const OGC_YAML = "application/ogcapppkg+yaml";

/** Everything that a process is deployed from. */
export const PACKAGE_TYPES: readonly string[] = [...OGC_TYPES, ...CWL_TYPES];
