import assert from "node:assert/strict";
import { test } from "node:test";

import { html } from "./html.ts";
import { renderPage } from "./layout.ts";

test("values are escaped, HTML is not, and what is not there leaves nothing", () => {
  const inner = html`<b>${"<&>\"'"}</b>`;
  assert.equal(
    html`<p title="${'"'}">${inner}${undefined}${false}${3}${[inner]}</p>`.text,
    '<p title="&quot;"><b>&lt;&amp;&gt;&quot;&#39;</b>3<b>&lt;&amp;&gt;&quot;&#39;</b></p>',
  );
});

test("the indentation of templates goes, that of values stays", () => {
  const page = html`<div>
    <i>${"a\n  b"}</i>
  </div>`;
  assert.equal(page.text, "<div>\n<i>a\n  b</i>\n</div>");
});

test("a reading page shows the way to it, and what it is besides", () => {
  const page = renderPage({
    title: "Jobs",
    content: html`<h1>Jobs</h1>`,
    style: "/style.css",
    breadcrumbs: [
      { label: "eric", href: "/eric" },
      { label: "jobs", href: "/eric/jobs" },
    ],
    forms: [{ label: "JSON", href: "/eric/jobs?f=json", type: "application/json" }],
    refresh: 3,
  });
  assert.match(page, /<a href="\/eric\/jobs" aria-current="page">jobs<\/a>/);
  assert.match(page, /<link rel="alternate" type="application\/json" href="\/eric\/jobs\?f=json" \/>/);
  assert.match(page, /<meta http-equiv="refresh" content="3" \/>/);
  assert.doesNotMatch(page, /<script/);
});
