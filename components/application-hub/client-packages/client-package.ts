/** A package of a client, as a package manager takes it. */
export interface ClientPackage {
  readonly name: string;
  readonly bytes: Buffer;
}
