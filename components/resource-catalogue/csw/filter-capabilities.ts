import { elements } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import type { CswVersion } from "./versions.ts";

const OPERATORS = [
  "EqualTo",
  "NotEqualTo",
  "LessThan",
  "GreaterThan",
  "LessThanEqualTo",
  "GreaterThanEqualTo",
  "Like",
  "Between",
  "NullCheck",
];
const OPERATORS_2 = [
  "EqualTo",
  "NotEqualTo",
  "LessThan",
  "GreaterThan",
  "LessThanOrEqualTo",
  "GreaterThanOrEqualTo",
  "Like",
  "Null",
  "Nil",
  "Between",
];
const SPATIAL = ["BBOX", "Intersects", "Within", "Contains", "Disjoint", "DWithin"];
const TEMPORAL = [
  "After",
  "Before",
  "During",
  "TEquals",
  "Begins",
  "BegunBy",
  "Ends",
  "EndedBy",
  "Meets",
  "MetBy",
  "TContains",
  "TOverlaps",
  "OverlappedBy",
  "AnyInteracts",
];
/** Classes of Filter Encoding 2.0 (OGC 09-026r2 table 1). */
const CLASSES: Readonly<Record<string, boolean>> = {
  Query: true,
  AdHocQuery: true,
  Functions: false,
  ResourceId: true,
  MinStandardFilter: true,
  StandardFilter: true,
  MinSpatialFilter: true,
  SpatialFilter: true,
  MinTemporalFilter: true,
  TemporalFilter: true,
  VersionNav: false,
  Sorting: true,
  ExtendedOperators: false,
  MinimumXPath: true,
  SchemaElementFunc: false,
};

/** What filters may hold, in the form of Filter Encoding 1.1 or 2.0. */
export function renderFilterCapabilities(version: CswVersion): string {
  return version === "2.0.2" ? VERSION_1 : VERSION_2;
}

const VERSION_1 = `<ogc:Filter_Capabilities><ogc:Spatial_Capabilities><ogc:GeometryOperands>${elements(
  "ogc:GeometryOperand",
  ["gml:Envelope", "gml:Point", "gml:LineString", "gml:Polygon"],
)}</ogc:GeometryOperands><ogc:SpatialOperators>${SPATIAL.map((name) => `<ogc:SpatialOperator name="${name}"/>`).join("")}</ogc:SpatialOperators></ogc:Spatial_Capabilities><ogc:Scalar_Capabilities><ogc:LogicalOperators/><ogc:ComparisonOperators>${elements("ogc:ComparisonOperator", OPERATORS)}</ogc:ComparisonOperators><ogc:ArithmeticOperators><ogc:SimpleArithmetic/></ogc:ArithmeticOperators></ogc:Scalar_Capabilities><ogc:Id_Capabilities><ogc:EID/><ogc:FID/></ogc:Id_Capabilities></ogc:Filter_Capabilities>`;

const VERSION_2 = `<fes:Filter_Capabilities xmlns:ows11="${NS.ows11}"><fes:Conformance>${Object.entries(CLASSES)
  .map(
    ([name, isMet]) =>
      `<fes:Constraint name="Implements${name}"><ows11:NoValues/><ows11:DefaultValue>${isMet ? "TRUE" : "FALSE"}</ows11:DefaultValue></fes:Constraint>`,
  )
  .join(
    "",
  )}</fes:Conformance><fes:Id_Capabilities><fes:ResourceIdentifier name="csw:id"/></fes:Id_Capabilities><fes:Scalar_Capabilities><fes:LogicalOperators/><fes:ComparisonOperators>${OPERATORS_2.map((name) => `<fes:ComparisonOperator name="PropertyIs${name}"/>`).join("")}</fes:ComparisonOperators></fes:Scalar_Capabilities><fes:Spatial_Capabilities><fes:GeometryOperands>${["Envelope", "Point", "LineString", "Polygon", "MultiPoint", "MultiCurve", "MultiSurface"].map((name) => `<fes:GeometryOperand name="gml:${name}"/>`).join("")}</fes:GeometryOperands><fes:SpatialOperators>${SPATIAL.map((name) => `<fes:SpatialOperator name="${name}"/>`).join("")}</fes:SpatialOperators></fes:Spatial_Capabilities><fes:Temporal_Capabilities><fes:TemporalOperands><fes:TemporalOperand name="gml:TimeInstant"/><fes:TemporalOperand name="gml:TimePeriod"/></fes:TemporalOperands><fes:TemporalOperators>${TEMPORAL.map((name) => `<fes:TemporalOperator name="${name}"/>`).join("")}</fes:TemporalOperators></fes:Temporal_Capabilities></fes:Filter_Capabilities>`;
