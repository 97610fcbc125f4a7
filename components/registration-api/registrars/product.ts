import type { StacItem } from "@swath/stac";
import { PRODUCT_FAMILIES, type ProductFiles, convertProduct, findProduct } from "@swath/products";

import { RegistrationError } from "../queue/errors.ts";
import type { TaskContext } from "../queue/run-task.ts";
import type { AddressRequest, Tools } from "./registrar-context.ts";

/** The item of a product as its agency delivers it. @throws {RegistrationError}; {ProductError} */
export async function describeProduct(
  tools: Tools,
  context: TaskContext,
  { url, rights }: Pick<AddressRequest, "url" | "rights">,
): Promise<StacItem> {
  const product = findProduct(tools.sources.normalize(url));
  if (product === undefined) {
    const known = PRODUCT_FAMILIES.map(({ title }) => title).join("; ");
    throw new RegistrationError(`${url} is no product that is known. Known are: ${known}.`);
  }
  return convertProduct(
    await openFiles(tools, context, { rights, folder: product.folder, name: product.name }),
    product,
  );
}

/** Files of one product; more are none. */
const MAX_FILES = 20_000;

/** The files of a product in a bucket, or at a web address, which cannot be listed. */
async function openFiles(
  { sources }: Tools,
  { signal }: TaskContext,
  { folder, name, rights }: Pick<AddressRequest, "rights"> & { readonly folder: string; readonly name: string },
): Promise<ProductFiles> {
  const paths: string[] = [];
  if (folder.startsWith("s3://")) {
    const prefix = folder.replace(/^s3:\/\/[^/]+\//, "");
    for await (const { key } of sources.list(`${folder}/`, { rights, signal })) {
      paths.push(key.slice(prefix.length + 1));
      if (paths.length > MAX_FILES) {
        throw new RegistrationError(`${folder} has more than ${MAX_FILES} files; it is no product.`);
      }
    }
  }
  const hrefOf = (path: string): string =>
    folder.startsWith("s3://") ? `${folder}/${path}` : `${folder}/${path.split("/").map(encodeURIComponent).join("/")}`;
  return {
    name,
    paths,
    href: (path) => sources.toHref(hrefOf(path)),
    read: async (path) => (await sources.read(hrefOf(path), { rights, signal })).bytes,
  };
}
