import { register, setProjectionCodeLookup } from "ol/proj/proj4.js";

let ready: Promise<void> | undefined;

/**
 * Makes reference systems known that the map does not know by itself (UTM zones it does). Their definitions are part of the
 * pages and are fetched when the first is needed; nobody outside is asked.
 */
export function prepareProjections(): Promise<void> {
  ready ??= (async () => {
    const { default: proj4 } = await import("proj4");
    register(proj4);
    setProjectionCodeLookup(async (code) => {
      const { default: list } = await import("proj4-list");
      const definition = (list as Readonly<Record<string, readonly [string, string]>>)[code]?.[1];
      if (definition === undefined) {
        throw new Error(`The reference system ${code} is not known here.`);
      }
      return definition;
    });
  })();
  return ready;
}
