import assert from "node:assert/strict";
import { test } from "node:test";

import { listCopyTexts } from "../../web/catalogue/model/copy-search.ts";
import {
  type SearchState,
  hasConditions,
  readSearchState,
  toConditions,
  toSearchBody,
  writeSearchState,
} from "../../web/catalogue/model/search-state.ts";

const FULL: SearchState = {
  text: "ice melt",
  collections: ["a", "b"],
  box: [5.1, 51, 5.4, 51.3],
  from: "2026-01-01",
  to: "2026-01-31",
  clouds: 20,
  filter: "platform = 'sentinel-2a'",
  sort: "clouds",
};

test("a search is in the address, whole", () => {
  assert.deepEqual(readSearchState(writeSearchState(FULL)), FULL);
  assert.equal(writeSearchState(readSearchState(new URLSearchParams())).toString(), "");
});

test("what cannot be understood in an address counts as left out", () => {
  const query = new URLSearchParams("bbox=1,2,3&from=yesterday&clouds=200&sort=constructor");
  assert.deepEqual(readSearchState(query), { text: "", collections: [], filter: "", sort: "newest" });
  assert.equal(hasConditions(readSearchState(query)), false);
  assert.equal(hasConditions(readSearchState(new URLSearchParams("sort=oldest"))), false);
  assert.equal(hasConditions(readSearchState(new URLSearchParams("q=x"))), true);
});

test("a search as the service takes it", () => {
  assert.deepEqual(toSearchBody(FULL), {
    q: ["ice", "melt"],
    collections: ["a", "b"],
    bbox: [5.1, 51, 5.4, 51.3],
    datetime: "2026-01-01T00:00:00Z/2026-01-31T23:59:59.999Z",
    filter: `"eo:cloud_cover" <= 20 AND (platform = 'sentinel-2a')`,
    "filter-lang": "cql2-text",
    sortby: [{ field: "properties.eo:cloud_cover", direction: "asc" }],
  });
  const { from: _, ...open } = FULL;
  assert.equal(toConditions(open)["datetime"], "../2026-01-31T23:59:59.999Z");
  assert.deepEqual(toConditions(readSearchState(new URLSearchParams())), {});
});

test("a search for other programs: quotes of the shell and words of Python", () => {
  const [curl, python] = listCopyTexts("https://c.example.org", toSearchBody(FULL));
  assert.match(curl?.text ?? "", /platform = '\\''sentinel-2a'\\''/);
  assert.match(python?.text ?? "", /filter_lang="cql2-text",/);
  assert.match(python?.text ?? "", /Client\.open\("https:\/\/c\.example\.org\/stac"/);
});
