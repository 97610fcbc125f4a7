const address = (name: string, version: string): string =>
  `https://stac-extensions.github.io/${name}/v${version}/schema.json`;

/** Extensions of STAC by the prefix of their fields. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    eo: address("eo", "2.0.0"),
    file: address("file", "2.1.0"),
    grid: address("grid", "1.1.0"),
    landsat: address("landsat", "2.0.0"),
    mgrs: address("mgrs", "1.0.0"),
    processing: address("processing", "1.2.0"),
    proj: address("projection", "2.0.0"),
    product: address("product", "0.1.0"),
    raster: address("raster", "2.0.0"),
    s2: address("sentinel-2", "1.0.0"),
    sar: address("sar", "1.0.0"),
    sat: address("sat", "1.1.0"),
    sci: address("scientific", "1.0.0"),
    view: address("view", "1.0.0"),
  }),
);

/** The extensions whose fields occur in properties, assets and bands. */
export function findExtensions(...parts: readonly unknown[]): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        const extension = EXTENSIONS.get(key.split(":", 1)[0] ?? "");
        if (key.includes(":") && extension !== undefined) {
          found.add(extension);
        }
        visit(inner);
      }
    }
  };
  parts.forEach(visit);
  return [...found].toSorted();
}
