import { RegistrationError } from "../queue/errors.ts";

/** Names that configuration files have for the provider's products; each means the same here. */
const PRODUCTS = /OpenSearch(?:Sentinel[123]|Landsat8)\w*(?:Postprocessor|Provider)$/;

/** Whether the items of a harvester are replaced by what their products' own metadata say. @throws {RegistrationError} for unknown names */
export function readsProducts(names: readonly string[]): boolean {
  for (const name of names) {
    if (!PRODUCTS.test(name) && name !== "product") {
      throw new RegistrationError(
        `The harvester has the postprocess type ${JSON.stringify(name)}, which is not known; use "product" to read the metadata of products.`,
      );
    }
  }
  return names.length > 0;
}
