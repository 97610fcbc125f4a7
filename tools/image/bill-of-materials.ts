import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What is read and written of a CycloneDX document. */
interface BillOfMaterials {
  readonly serialNumber?: string;
  readonly metadata: { readonly timestamp?: string; readonly component: Named };
  readonly components: readonly Named[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Named {
  readonly "bom-ref": string;
  readonly name: string;
  readonly purl?: string;
}

/**
 * The packages of the image as a CycloneDX document: of what `npm sbom` lists from the lock file, that which is in the folder. Without
 * time and serial number, so that one commit gives one image.
 *
 * @param listed what `npm sbom --sbom-format=cyclonedx` printed
 */
export function listMaterials(app: string, listed: string): string {
  const { serialNumber: _, metadata, components, dependencies, ...document } = JSON.parse(listed) as BillOfMaterials;
  const { timestamp: __, component, ...rest } = metadata;
  const there = new Set(listInstalled(app));
  const kept = components.filter(({ purl = "" }) => there.has(purl));
  const references = new Set([component["bom-ref"], ...kept.map((each) => each["bom-ref"])]);
  const whole = {
    ...document,
    metadata: { ...rest, component: { ...component, name: "swath" } },
    components: kept,
    dependencies: dependencies
      .filter(({ ref }) => references.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => references.has(other)) })),
  };
  return `${JSON.stringify(whole, null, 1)}\n`;
}

/** Package URLs (purl) of all packages in a folder, those of the project among them. */
function listInstalled(app: string): readonly string[] {
  const manifests = globSync(
    ["**/node_modules/*/package.json", "**/node_modules/@*/*/package.json", "{components,libs}/*/package.json"],
    { cwd: app },
  );
  return manifests.map((file) => {
    const { name = "", version = "" } = JSON.parse(readFileSync(join(app, file), "utf8")) as Record<string, string>;
    return `pkg:npm/${name.replace("@", "%40")}@${version}`;
  });
}
