/** A product that cannot be described. The message names the file and what is wrong with it. */
export class ProductError extends Error {
  override readonly name = "ProductError";
}
