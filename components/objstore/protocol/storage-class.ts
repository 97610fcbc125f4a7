import { S3Error } from "../errors.ts";
import { type S3Request, header } from "./request.ts";

/** Kept among an object's headers, unless the class is STANDARD: so answers name it as Amazon S3's do. */
export const STORAGE_CLASS_HEADER = "x-amz-storage-class";

/**
 * Classes of Amazon S3 whose objects can be read at once. All are stored alike; the class is remembered and shown. Archive classes are
 * refused: their objects would have to refuse reads until RestoreObject.
 */
const CLASSES = ["STANDARD", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER_IR", "REDUCED_REDUNDANCY"];

/** The class that an upload asks for; undefined: STANDARD. @throws {S3Error} InvalidStorageClass */
export function readStorageClass(request: S3Request): string | undefined {
  const name = header(request, STORAGE_CLASS_HEADER);
  if (name !== undefined && !CLASSES.includes(name)) {
    throw new S3Error("InvalidStorageClass", `The storage class must be one of ${CLASSES.join(", ")}.`);
  }
  return name === "STANDARD" ? undefined : name;
}

/** Class of an object or an upload. `headers`: JSON. */
export function storageClassOf({ headers }: { readonly headers: string }): string {
  return (JSON.parse(headers) as Record<string, string>)[STORAGE_CLASS_HEADER] ?? "STANDARD";
}
