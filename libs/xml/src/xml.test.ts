import assert from "node:assert/strict";
import { test } from "node:test";

import { parseElements, parseLargeElements, parseLargeNamed, parseNamed } from "./index.ts";
import { breakDocument } from "../test/malformed.ts";
import { XmlError } from "./xml-error.ts";

const WHOLE = '<?xml version="1.0"?><a k="1"><b>text</b></a>';

test("refuses every document that is not well formed", async () => {
  parseNamed(WHOLE);
  for (const text of ["", "text", ...breakDocument(WHOLE).map((broken) => broken.text)]) {
    assert.throws(() => parseElements(text), XmlError, text);
    assert.throws(() => parseNamed(text), XmlError, text);
    await assert.rejects(parseLargeNamed(text), XmlError, text);
  }
});

test("refuses a document type, and what goes beyond a limit", async () => {
  for (const [text, message] of [
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', /document type/],
    ["<a>".repeat(400_000), /more than 100 elements inside each other/],
    [`<a>${"<b/>".repeat(200_001)}</a>`, /more than 200000 elements/],
    [`<a ${Array.from({ length: 257 }, (_, i) => `b${i}=""`).join(" ")}/>`, /more than 256 attributes/],
    [
      `<a ${Array.from({ length: 250 }, (_, i) => `xmlns:b${i}="b"`).join(" ")}><b ${Array.from({ length: 250 }, (_, i) => `xmlns:c${i}="b"`).join(" ")}/></a>`,
      /more than 256 prefixes/,
    ],
  ] as const) {
    await assert.rejects(parseLargeElements(text), message);
  }
});

test("refuses more elements than are taken inside of one, while it reads", async () => {
  const maxInside = new Map([["Filter", 3]]);
  const filter = (count: number) => `<f:Filter>${"<f:Or/>".repeat(count)}</f:Filter>`;
  const whole = (inner: string) => `<a xmlns:f="f">${inner}</a>`;
  // What is outside, and in a second one, does not count.
  parseElements(whole(`${filter(3)}${"<b/>".repeat(10)}${filter(3)}`), { maxInside });
  const message = /must not have more than 3 elements in the element Filter/;
  assert.throws(() => parseElements(whole(filter(4)), { maxInside }), message);
  assert.throws(() => parseElements(whole(`<f:Filter>${filter(3)}</f:Filter>`), { maxInside }), message);
  await assert.rejects(parseLargeElements(whole(filter(500_000)).slice(0, -100), { maxInside }), message);
});

test("resolves namespaces and references, and knows where elements begin", () => {
  const text = `\ufeff<?xml version="1.0"?>\n<!-- c --><p:a xmlns:p="urn:p" xmlns="urn:d"><b p:x="1" x="2">1 &lt;&#65;<![CDATA[&]]></b>\n<c xmlns=""/></p:a>`;
  const root = parseElements(text);
  assert.deepEqual([root.namespace, root.name], ["urn:p", "a"]);
  const [b, c] = root.children;
  assert.deepEqual([b?.namespace, b?.text, b?.attributes.get("x")], ["urn:d", "1 <A&", "2"]);
  assert.equal(c?.namespace, "");
  assert.deepEqual([...(b?.scope.keys() ?? [])], ["xml", "p", ""]);
  for (const element of [root, ...root.children]) {
    assert.match(text.slice(element.start), new RegExp(`^<(?:p:)?${element.name}[ />]`));
  }
});

test("gives values by name, without inherited ones", () => {
  const { name, value } = parseNamed(
    '<p:r xmlns:p="x"><a k="1"> t </a><b>1</b><b>2</b><e/><toString>x</toString><__proto__>y</__proto__></p:r>',
  );
  assert.equal(name, "r");
  const { a, b, e } = value as Record<string, unknown>;
  assert.deepEqual({ ...(a as object) }, { "@k": "1", "#text": "t" });
  assert.deepEqual([b, e], [["1", "2"], ""]);
  assert.equal((value as Record<string, unknown>)["constructor"], undefined);
  assert.ok(Object.hasOwn(value as object, "__proto__"));
});

test("takes references to control characters where it is told to", () => {
  const text = '<?xml version="1.0"?><a>&#x1;&amp;#x1;</a>';
  assert.throws(() => parseNamed(text), XmlError);
  assert.equal(parseNamed(text, { controlReferences: true }).value, "\u0001&#x1;");
  assert.throws(() => parseNamed("<a>&#0;</a>", { controlReferences: true }), XmlError);
});

test("reads a document in parts as it reads it at once", async () => {
  const text = `<a>${"<b c='&amp;&#x10FFFF;'>é&lt;\u{1f30d}\r\n</b>".repeat(4000)}</a>`;
  assert.deepEqual(await parseLargeElements(text), parseElements(text));
});
