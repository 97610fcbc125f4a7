import { type StacItem } from "@swath/stac";

import { RegistrationError } from "../queue/errors.ts";
import type { TaskContext } from "../queue/run-task.ts";
import type { ReadRights } from "../sources/source-types.ts";
import { describeProduct } from "../registrars/product.ts";
import type { Tools } from "../registrars/registrar-context.ts";

/** The item of the product that `productIdentifier` names, in the provider's storage: `/eodata/Sentinel-2/…`, or `s3://…`. */
export async function readProduct(
  tools: Tools,
  context: TaskContext,
  { item, rights }: { readonly item: StacItem; readonly rights: ReadRights },
): Promise<StacItem> {
  const identifier = item.properties["productIdentifier"] ?? item.properties["product_identifier"];
  if (typeof identifier !== "string" || identifier === "") {
    throw new RegistrationError(
      `${item.id} has no productIdentifier; map it in format_config.property_mapping.productIdentifier.`,
    );
  }
  const address = toProductAddress(identifier);
  const { collection, ...found } = await describeProduct(tools, context, { url: address, rights });
  const cloud = item.properties["cloudCover"];
  return {
    ...found,
    ...(collection !== undefined && { collection }),
    properties: {
      ...(typeof cloud === "number" && cloud >= 0 && { "eo:cloud_cover": cloud }),
      ...found.properties,
    },
  };
}

/** `/bucket/…`, or an address as it is. A Landsat product is a folder; its MTL describes it. */
function toProductAddress(identifier: string): string {
  const address = (identifier.startsWith("/") ? `s3:/${identifier}` : identifier).replace(/\/$/, "");
  const name = address.slice(address.lastIndexOf("/") + 1);
  return /^L[A-Z]\d{2}_[A-Z0-9_]+$/.test(name) ? `${address}/${name}_MTL.txt` : address;
}
