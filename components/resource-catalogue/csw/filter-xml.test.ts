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
