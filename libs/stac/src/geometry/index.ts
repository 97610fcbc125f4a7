export { type GeometryIssue, findGeometryIssues } from "./check-geometry.ts";
export { type Position, type Ring, areaOf, boundsOf, closeAroundPole, unwrap, withoutRepetitions } from "./ring.ts";
export { findSelfIntersection } from "./self-intersection.ts";
