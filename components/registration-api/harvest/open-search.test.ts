import assert from "node:assert/strict";
import { test } from "node:test";

import { RegistrationError } from "../queue/errors.ts";
import type { ReadOptions, Sources } from "../sources/source-types.ts";
import { readTemplate } from "./open-search.ts";

const read = (text: string) => {
  const sources = { read: async (href: string) => ({ href, bytes: Buffer.from(text), contentType: "" }) };
  return readTemplate(sources as unknown as Sources, "https://example.org/osdd.xml", {} as ReadOptions);
};
const DESCRIPTION = (urls: string) =>
  `<?xml version="1.0"?><os:OpenSearchDescription xmlns:os="http://a9.com/-/spec/opensearch/1.1/">${urls}</os:OpenSearchDescription>`;

test("finds the template of GeoJSON, of one address or several", async () => {
  const json = '<os:Url type="application/geo+json" template="/search?q={searchTerms?}&amp;f=json"/>';
  const atom = '<os:Url type="application/atom+xml" template="/search?f=atom"/>';
  const expected = "https://example.org/search?q={searchTerms?}&f=json";
  assert.equal(await read(DESCRIPTION(json)), expected);
  assert.equal(await read(DESCRIPTION(atom + json)), expected);
  await assert.rejects(read(DESCRIPTION(atom)), /its types: application\/atom\+xml/);
  await assert.rejects(read("<html/>"), /its types: none/);
});

test("refuses descriptions that are not well formed, have entities or are deep, in words", async () => {
  for (const text of [
    "",
    "no XML",
    DESCRIPTION("<os:Url></os:Url2>"),
    DESCRIPTION("&foo;"),
    `<!DOCTYPE a [<!ENTITY b "c">]>${DESCRIPTION("&b;")}`,
    DESCRIPTION("<a>".repeat(100_000)),
    DESCRIPTION('<os:Url type="json" type="json"/>'),
  ]) {
    await assert.rejects(read(text), RegistrationError, text.slice(0, 100));
  }
});
