import assert from "node:assert/strict";
import { test } from "node:test";

import { rewriteCollectionLinks, rewriteDocumentLinks } from "./rewrite-links.ts";

const FOLDER = "s3://results/processing-results/1/";
const JOB = "https://ades.example.org/eric/ogc-api/jobs/1";
const result = { outputs: {}, catalogUri: `${FOLDER}catalog.json` };

test("documents of a result lead to each other by relative links, whatever their place", () => {
  const document = {
    stac_version: "1.0.0",
    links: [
      { rel: "root", href: `${FOLDER}catalog.json` },
      { rel: "self", href: `${FOLDER}1/a b/a b.json` },
      { rel: "license", href: "https://example.org/license" },
      { rel: "other", href: "s3://results/processing-results/10/catalog.json" },
    ],
    assets: { ndvi: { href: `${FOLDER}1/a b/ndvi#1.tif` }, note: { href: `${FOLDER}..hidden.txt` } },
  };
  const read = JSON.parse(rewriteDocumentLinks(JSON.stringify(document), FOLDER, "1/a b/a b.json") ?? "");
  assert.deepEqual(
    read.links.map(({ href }: { href: string }) => href),
    ["../../catalog.json", "./a%20b.json", "https://example.org/license", document.links[3]?.href],
  );
  assert.equal(read.assets.ndvi.href, "./ndvi%231.tif");
  assert.equal(read.assets.note.href, "../../..hidden.txt");
});

test("what is no STAC document stays as it is", () => {
  assert.equal(rewriteDocumentLinks(JSON.stringify({ href: `${FOLDER}x` }), FOLDER, "x.json"), undefined);
  assert.equal(rewriteDocumentLinks(`{"stac_version": "1.0.0", "href": "${FOLDER}`, FOLDER, "x.json"), undefined);
});

test("a collection leads to this service, and says where the catalogue is in the object storage", () => {
  const collection = {
    links: [
      { rel: "root", href: `${FOLDER}catalog.json` },
      { rel: "item", href: `${FOLDER}1/a/a.json` },
    ],
    assets: { table: { href: `${FOLDER}1/t.csv` } },
  };
  assert.deepEqual(rewriteCollectionLinks(collection, result, JOB), {
    links: [
      { rel: "root", href: `${FOLDER}catalog.json` },
      { rel: "item", href: `${JOB}/files/1/a/a.json` },
    ],
    assets: { table: { href: `${JOB}/files/1/t.csv` } },
  });
});
