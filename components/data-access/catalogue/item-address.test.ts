import assert from "node:assert/strict";
import { test } from "node:test";

import { findItemPath } from "./item-address.ts";

const ADDRESSES = {
  publicUrl: "https://resource-catalogue.example.org:8443",
  internalUrl: "http://resource-catalogue.rm:8080",
};
const PATH = "/collections/fields/items/summer%2F1";

test("takes each address that the catalogue has for an item", () => {
  for (const base of [
    "https://resource-catalogue.example.org:8443/stac",
    "HTTPS://Resource-Catalogue.Example.org:8443/stac",
    "https://resource-catalogue-open.example.org:8443/stac",
    "https://resource-catalogue.ws-eric.example.org:8443/stac",
    "https://resource-catalogue.example.org:8443",
    "http://resource-catalogue.rm:8080/stac",
  ]) {
    for (const ending of ["", "/", "?f=json", "#top"]) {
      assert.equal(findItemPath(`${base}${PATH}${ending}`, ADDRESSES), PATH, `${base} ${ending}`);
    }
  }
  const socket = "http+unix://%2Frun%2Fcatalogue.sock";
  assert.equal(findItemPath(`${socket}/stac${PATH}`, { ...ADDRESSES, internalUrl: socket }), PATH);
});

test("takes no other address", () => {
  for (const url of [
    `https://example.org/stac${PATH}`,
    `https://resource-catalogue.example.org/stac${PATH}`,
    `https://resource-catalogue.example.org.evil.net:8443/stac${PATH}`,
    `https://resource-catalogue.a.b.example.org:8443/stac${PATH}`,
    `https://resource-catalogue-other.example.org:8443/stac${PATH}`,
    `https://resource-catalogue.example.org:8443@evil.net/stac${PATH}`,
    `https://user@resource-catalogue.example.org:8443/stac${PATH}`,
    `http://resource-catalogue.rm:80801/stac${PATH}`,
    `ftp://resource-catalogue.example.org:8443/stac${PATH}`,
    "https://resource-catalogue.example.org:8443/stac/collections/fields/items",
    "https://resource-catalogue.example.org:8443/stac/collections/fields/items/summer/assets/red",
    "https://resource-catalogue.example.org:8443/stac/collections/fields/items/..",
    "http://resource-catalogue.rm:8080/stac/collections/../items/%2e%2E",
    "http://resource-catalogue.rm:8080/stac/collections/x/items/%2e.",
    "",
    "nonsense",
  ]) {
    assert.equal(findItemPath(url, ADDRESSES), undefined, url);
  }
});
