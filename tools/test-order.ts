/**
 * Files that take longest, longest first, by the list at the end of a whole run: a long one that starts last runs alone, while
 * processors are idle. Bring it up to date when that list looks different.
 */
export const LONGEST_FILES: readonly string[] = [
  "test/upgrade.integration.test.ts",
  "test/e2e/tour.integration.test.ts",
  "test/e2e/portal/jobs.integration.test.ts",
  "test/docs.integration.test.ts",
  "libs/raster/test/tiff-matrix.integration.test.ts",
  "components/registration-api/test/ways-in.integration.test.ts",
  "test/e2e/portal/catalogue.integration.test.ts",
  "test/e2e/objstore-console.integration.test.ts",
  "test/e2e/portal/portal.integration.test.ts",
  "test/e2e/portal/processing.integration.test.ts",
  "test/e2e/identity-console.integration.test.ts",
  "test/rotation.integration.test.ts",
  "test/e2e/portal/ways.integration.test.ts",
  "test/attacks/tenant-matrix.integration.test.ts",
  "components/resource-catalogue/test/feed.integration.test.ts",
  "test/e2e/hub/stac-browser.integration.test.ts",
  "test/e2e/embedded-faults.integration.test.ts",
  "components/objstore/test/crash.integration.test.ts",
  "test/e2e/command-line.integration.test.ts",
  "components/registry/test/crash-s3.integration.test.ts",
  "components/ades/test/replicas.integration.test.ts",
  "test/certificates.integration.test.ts",
  "components/ades/test/isolation.integration.test.ts",
  "test/e2e/data-access-viewer.integration.test.ts",
  "components/registry/test/crash.integration.test.ts",
  "test/e2e/registry-console.integration.test.ts",
  "test/e2e/identity.integration.test.ts",
  "test/e2e/backup-restore.integration.test.ts",
  "components/ades/test/faults.integration.test.ts",
  "components/registration-api/test/harvest.integration.test.ts",
  "components/registration-api/test/faults.integration.test.ts",
  "test/e2e/hub/browser.integration.test.ts",
  "test/e2e/variant-b.integration.test.ts",
  "components/registration-api/test/cloud-data.integration.test.ts",
  "cli/targets/embedded/tls/acme/test/kill.integration.test.ts",
  "components/registration-api/test/workers.integration.test.ts",
  "components/registration-api/test/registrars.integration.test.ts",
];

/** The longest first, the others in their order. */
export function sortLongestFirst(files: readonly string[]): readonly string[] {
  const known = new Set(LONGEST_FILES);
  return [...LONGEST_FILES.filter((file) => files.includes(file)), ...files.filter((file) => !known.has(file))];
}
