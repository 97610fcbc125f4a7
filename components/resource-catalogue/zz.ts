import { makeCollection, makeItem, startCatalogue } from "./test/fixture.ts";
const { request, url, close } = await startCatalogue();
await request("POST", "/stac/collections", { body: makeCollection("scenes") });
await request("POST", "/stac/collections/scenes/items", {
  body: { type: "FeatureCollection", features: Array.from({ length: 20 }, (_, index) => makeItem(`scene-${index}`)) },
});
console.log(url);
const stop = async () => {
  await close();
  process.exit(0);
};
process.on("SIGTERM", () => void stop());
setTimeout(() => void stop(), 240000);
