// Made when the pages are built: build/places.ts.
declare module "swath:places" {
  const url: string;
  export default url;
}
