import { eoDocuments } from "./eo-documents.ts";
import { eoGraphs } from "./eo-graphs.ts";
import type { EoPackage } from "./eo-package.ts";

/** @param base where the folders of all packages are served, each below its id */
export const eoPackages = (base: string): readonly EoPackage[] => [...eoGraphs(), ...eoDocuments(base)];
