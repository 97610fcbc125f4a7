import assert from "node:assert/strict";
import { test } from "node:test";

import { FilterError } from "../query/expression.ts";
import { readXml } from "../xml/read.ts";
import { parseFilterXml } from "./filter-xml.ts";

const CONDITION =
  "<ogc:PropertyIsEqualTo><ogc:PropertyName>dc:title</ogc:PropertyName><ogc:Literal>a</ogc:Literal></ogc:PropertyIsEqualTo>";
const read = async (count: number) => {
  const text = `<ogc:Filter xmlns:ogc="http://www.opengis.net/ogc"><ogc:Or>${CONDITION.repeat(count)}</ogc:Or></ogc:Filter>`;
  return parseFilterXml((await readXml(Buffer.from(text))).root);
};

test("takes 250 conditions, and says so where there are more", async () => {
  assert.equal((await read(250))?.kind, "call");
  await assert.rejects(read(251), new FilterError("the filter has more than 250 conditions"));
});

test("refuses a filter of very many elements before it is read whole", async () => {
  await assert.rejects(read(36_000), /must not have more than 10000 elements in the element Filter/);
});

test("a box without a reference system has latitude first, unless its numbers are no latitudes", async () => {
  const parse = async (lower: string, upper: string, srs = "") => {
    const box = `<gml:Envelope${srs}><gml:lowerCorner>${lower}</gml:lowerCorner><gml:upperCorner>${upper}</gml:upperCorner></gml:Envelope>`;
    const text = `<ogc:Filter xmlns:ogc="http://www.opengis.net/ogc" xmlns:gml="http://www.opengis.net/gml"><ogc:BBOX><ogc:PropertyName>ows:BoundingBox</ogc:PropertyName>${box}</ogc:BBOX></ogc:Filter>`;
    return JSON.stringify(parseFilterXml((await readXml(Buffer.from(text))).root));
  };
  assert.match(await parse("40 10", "50 20"), /"bbox":\[10,40,20,50\]/);
  assert.match(await parse("-180 -90", "180 90"), /"bbox":\[-180,-90,180,90\]/);
  assert.match(await parse("100 10", "120 20"), /"bbox":\[100,10,120,20\]/);
  // A reference system says which is first.
  assert.match(await parse("100 10", "120 20", ' srsName="urn:ogc:def:crs:EPSG::4326"'), /"bbox":\[10,100,20,120\]/);
});
