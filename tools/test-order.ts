/**
 * Files that take longest, longest first, by the list at the end of a whole run: a long one that starts last runs alone, while
 * processors are idle. Bring it up to date when that list looks different.
 */
export const LONGEST_FILES: readonly string[] = [
  "test/e2e/tour.integration.test.ts",
  "test/docs.integration.test.ts",
  "test/e2e/portal/catalogue.integration.test.ts",
  "test/e2e/portal/jobs.integration.test.ts",
  "test/e2e/portal/portal.integration.test.ts",
  "test/e2e/objstore-console.integration.test.ts",
  "test/e2e/portal/processing.integration.test.ts",
  "test/e2e/identity-console.integration.test.ts",
  "test/e2e/hub/stac-browser.integration.test.ts",
  "test/rotation.integration.test.ts",
  "test/upgrade.integration.test.ts",
  "test/e2e/portal/ways.integration.test.ts",
  "libs/raster/test/tiff-matrix.integration.test.ts",
  "test/e2e/command-line.integration.test.ts",
  "test/e2e/variant-b.integration.test.ts",
  "test/kubernetes/template.integration.test.ts",
  "test/e2e/registry-console.integration.test.ts",
  "test/e2e/identity.integration.test.ts",
  "test/e2e/backup-restore.integration.test.ts",
  "test/e2e/hub/browser.integration.test.ts",
];

/** The longest first, the others in their order. */
export function sortLongestFirst(files: readonly string[]): readonly string[] {
  const known = new Set(LONGEST_FILES);
  return [...LONGEST_FILES.filter((file) => files.includes(file)), ...files.filter((file) => !known.has(file))];
}
