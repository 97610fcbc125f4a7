import assert from "node:assert/strict";
import { test } from "node:test";

import sharp from "sharp";

import { findCollection, getImage, getJson, start } from "./fixture.ts";

const get = async (url: string) => {
  const response = await fetch(url);
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get("content-type") ?? "", bytes, text: bytes.toString() };
};

test("OGC services say what is wrong, and offer what they declare", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const map = `${url}/ows?service=WMS&version=1.3.0&request=GetMap&layers=${collection}&styles=ndvi&crs=CRS:84&bbox=15.2,46.3,15.4,46.4&width=64&height=64&format=image/png`;

  await t.test("WMS refuses style documents", async () => {
    for (const name of ["SLD", "SLD_BODY", "sld_body"]) {
      const { status, text } = await get(`${map}&${name}=${encodeURIComponent("<StyledLayerDescriptor/>")}`);
      assert.equal(status, 400, name);
      assert.match(text, new RegExp(`locator="${name.toUpperCase()}"`), text);
    }
  });

  await t.test("WMS lists scenes, and legends have the size that is said", async () => {
    for (const version of ["1.3.0", "1.1.1"]) {
      const { text } = await get(`${url}/ows?service=WMS&request=GetCapabilities&version=${version}`);
      const [, scene = ""] = new RegExp(`<Name>(${collection}__[^<]+)</Name>`).exec(text) ?? [];
      assert.notEqual(scene, "", version);
      const picture = await get(map.replace(`layers=${collection}`, `layers=${scene}`));
      assert.equal(picture.type, "image/png", picture.text.slice(0, 300));
      const legends = [...text.matchAll(/<LegendURL width="(\d+)" height="(\d+)">.*?xlink:href="([^"]+)"/g)];
      assert.ok(legends.length > 2);
      for (const [, width, height, address = ""] of legends) {
        const { bytes } = await get(address.replaceAll("&#38;", "&"));
        const size = await sharp(bytes).metadata();
        assert.deepEqual([size.width, size.height], [Number(width), Number(height)], address);
      }
      if (version === "1.1.1") {
        assert.match(text, /<\/SRS><LatLonBoundingBox minx="-180"/);
        assert.doesNotMatch(text, /<Extent [^>]*>[^<]*<\/Extent><Dimension /);
      }
    }
  });

  await t.test("WMS draws exceptions on the background that was asked for", async () => {
    const wrong = map.replace("styles=ndvi", "styles=none");
    const pixelOf = async (query: string) => {
      const { bytes, type } = await get(`${wrong}${query}`);
      const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
      return { type, pixel: [...data.subarray(0, info.channels)] };
    };
    assert.deepEqual((await pixelOf("&exceptions=BLANK&bgcolor=0xff0000")).pixel.slice(0, 3), [255, 0, 0]);
    assert.deepEqual((await pixelOf("&exceptions=INIMAGE")).pixel.slice(0, 3), [255, 255, 255]);
    assert.equal((await pixelOf("&exceptions=BLANK&transparent=TRUE")).pixel[3], 0);
    const jpeg = await get(`${wrong.replace("image/png", "image/jpeg")}&exceptions=BLANK`);
    assert.equal(jpeg.type, "image/jpeg");
  });

  await t.test("WMS tells values with their place", async () => {
    const info = map.replace("GetMap", "GetFeatureInfo");
    const { type, text } = await get(`${info}&query_layers=${collection}&i=32&j=32&info_format=application/geo%2Bjson`);
    assert.match(type, /^application\/geo\+json/);
    const { features } = JSON.parse(text) as { features: { geometry: { coordinates: number[] } }[] };
    const [longitude = 0, latitude = 0] = features[0]!.geometry.coordinates;
    assert.ok(Math.abs(longitude - 15.3) < 0.01 && Math.abs(latitude - 46.35) < 0.01, text);
  });

  await t.test("WMTS capabilities by their path are XML, or not acceptable", async () => {
    const ask = async (accept: string) =>
      (await fetch(`${url}/wmts/1.0.0/WMTSCapabilities.xml`, { headers: { accept } })).status;
    assert.deepEqual([await ask("*/*"), await ask("application/xml"), await ask("example/unknown")], [200, 200, 406]);
  });

  await t.test("WMTS has the codes and locators of the standard", async () => {
    const tile: Readonly<Record<string, string>> = {
      service: "WMTS",
      request: "GetTile",
      version: "1.0.0",
      layer: collection,
      style: "ndvi",
      format: "image/png",
      tilematrixset: "WebMercatorQuad",
      tilematrix: "9",
      tilerow: "181",
      tilecol: "277",
    };
    const send = (changes: Readonly<Record<string, string | undefined>>) => {
      const query = Object.entries({ ...tile, ...changes }).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
      );
      return get(`${url}/ows?${query.join("&")}`);
    };
    assert.equal((await send({})).type, "image/png");
    for (const [changes, code, locator] of [
      [{ style: undefined }, "MissingParameterValue", "Style"],
      [{ format: undefined }, "MissingParameterValue", "Format"],
      [{ layer: "none" }, "InvalidParameterValue", "Layer"],
      [{ style: "none" }, "InvalidParameterValue", "Style"],
      [{ format: "image/bmp" }, "InvalidParameterValue", "Format"],
      [{ version: "2.0.0" }, "InvalidParameterValue", "Version"],
      [{ tilematrixset: "none" }, "InvalidParameterValue", "TileMatrixSet"],
      [{ tilematrix: "99" }, "InvalidParameterValue", "TileMatrix"],
      [{ tilerow: "512" }, "TileOutOfRange", "TileRow"],
      [{ tilecol: "512" }, "TileOutOfRange", "TileCol"],
      [{ tilecol: "" }, "TileOutOfRange", "TileCol"],
      [{ request: "GetCapabilities", acceptversions: "3.0.0" }, "VersionNegotiationFailed"],
      [{ request: "GetBogus" }, "InvalidParameterValue", "request"],
      [{ request: "GetFeatureInfo", j: "1", infoformat: "text/plain" }, "MissingParameterValue", "I"],
      [{ request: "GetFeatureInfo", i: "1", j: "256", infoformat: "text/plain" }, "PointIJOutOfRange", "J"],
      [{ request: "GetFeatureInfo", i: "1", j: "1" }, "MissingParameterValue", "InfoFormat"],
      [{ request: "GetFeatureInfo", i: "1", j: "1", infoformat: "x/y" }, "InvalidParameterValue", "InfoFormat"],
    ] as const) {
      const { status, text } = await send(changes);
      assert.equal(status, 400, text);
      const ending = locator === undefined ? ">" : ` locator="${locator}"`;
      assert.match(text, new RegExp(`exceptionCode="${code}"${ending}`), JSON.stringify(changes));
    }
    const { text: capabilities } = await send({ request: "GetCapabilities", acceptversions: "1.0.0" });
    assert.match(capabilities, /<ows:ServiceProvider>.*<InfoFormat>application\/geo\+json/s);

    // The same values as at that place.
    const { text } = await send({ request: "GetFeatureInfo", i: "128", j: "100", infoformat: "application/geo+json" });
    const { features } = JSON.parse(text) as {
      features: { geometry: { coordinates: number[] }; properties: { red: number[] } }[];
    };
    const { coordinates } = features[0]!.geometry;
    const point = (await getJson(
      `${url}/collections/${collection}/point/${coordinates.join(",")}?assets=red`,
    )) as unknown as { values: [string, number[]][] };
    assert.deepEqual(features[0]!.properties.red, point.values[0]![1]);
  });

  await t.test("OGC API Maps: links without a query, names of colours, sizes of tiles, maps of styles", async () => {
    const { links } = (await getJson(`${url}/collections/${collection}`)) as unknown as {
      links: { rel: string; type: string; href: string }[];
    };
    for (const { type, href } of links.filter(({ rel }) => rel.endsWith("/map"))) {
      const picture = await getImage(`${href}?width=32&height=20`);
      assert.deepEqual([picture.type, picture.width, picture.height], [type, 32, 20]);
    }
    assert.equal((await get(`${url}/collections/${collection}/map.bmp`)).status, 404);
    const empty = `${url}/collections/${collection}/map.png?datetime=1990&width=8&height=8`;
    for (const [color, expected] of [
      ["orange", [255, 165, 0]],
      ["0x0000ff", [0, 0, 255]],
      ["fff", [255, 255, 255]],
    ] as const) {
      const { bytes } = await get(`${empty}&bgcolor=${color}`);
      const data = await sharp(bytes).raw().toBuffer();
      assert.deepEqual([...data.subarray(0, 3)], expected, color);
    }
    assert.equal((await get(`${empty}&bgcolor=nocolour`)).status, 400);
    const tile = await getImage(`${url}/collections/${collection}/map/tiles/WebMercatorQuad/9/181/277?f=png&width=100`);
    assert.deepEqual([tile.width, tile.height], [100, 100]);
    const style = (await getJson(`${url}/collections/${collection}/styles/ndvi`)) as unknown as {
      links: { rel: string; href: string }[];
    };
    const styled = style.links.find(({ rel }) => rel.endsWith("/map"));
    assert.equal((await getImage(`${styled!.href}?width=32`)).type, "image/png");
  });

  await t.test("WCS gives coverages in each format that it declares, and describes a scene once", async () => {
    const { text: capabilities } = await get(`${url}/ows?service=WCS&request=GetCapabilities&version=2.0.1`);
    const part = `${url}/ows?service=WCS&version=2.0.1&request=GetCoverage&coverageid=${collection}&subset=Lat(46.3,46.301)&subset=Long(15.2,15.201)&rangesubset=red`;
    const formats = [...capabilities.matchAll(/<wcs:formatSupported>([^<]+)</g)].map(([, format = ""]) => format);
    assert.equal(formats.length, 4);
    for (const format of formats) {
      const response = await fetch(`${part}&format=${encodeURIComponent(format)}`);
      assert.equal(response.headers.get("content-type")?.split(";")[0], format, await response.text());
    }
    const [, scene = ""] = new RegExp(`<wcs:CoverageId>(${collection}__[^<]+)<`).exec(capabilities) ?? [];
    const set = `${url}/ows?service=WCS&version=2.0.1&request=DescribeEOCoverageSet&eoid=${collection},${scene}`;
    const { text } = await get(set);
    const ids = [...text.matchAll(/gml:id="([^"]+)"/g)].map(([, id]) => id);
    assert.ok(ids.length > 5, text.slice(0, 300));
    assert.equal(new Set(ids).size, ids.length, ids.join());
    assert.match(text, /<om:resultTime><gml:TimeInstant gml:id="[^"]+"><gml:timePosition>2/);
  });

  await t.test("WCS 1.1 says its fees and provider, which OWSLib needs", async () => {
    const { text } = await get(`${url}/ows?service=WCS&request=GetCapabilities&version=1.1.1`);
    assert.match(text, /<ows:Fees>NONE<\/ows:Fees><ows:AccessConstraints>NONE/);
    assert.match(text, /<ows:ServiceProvider><ows:ProviderName>/);
  });
});
