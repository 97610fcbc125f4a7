import { type Html, html } from "@swath/pages";

import { renderFootprint } from "./footprint.ts";
import { renderLinks, renderValue, toHref } from "./values.ts";

type Json = Readonly<Record<string, unknown>>;

/** The page of an item or a record: where it is, what it says, its files. */
export function renderRecord(feature: Json): { title: string; content: Html } {
  const properties = (feature["properties"] ?? {}) as Json;
  const { title: named, description, ...others } = properties;
  const id = String(feature["id"]);
  const title = typeof named === "string" && named !== "" ? named : id;
  const { time } = feature;
  const assets = Object.entries((feature["assets"] ?? {}) as Readonly<Record<string, Json>>);
  const map = renderFootprint(feature["geometry"]);
  return {
    title,
    content: html`<h1>${title}</h1>
      ${typeof description === "string" && html`<p>${description}</p>`} ${map}
      <h2>Record</h2>
      ${renderValue({ id, ...(feature["collection"] !== undefined && { collection: feature["collection"] }), ...(feature["bbox"] !== undefined && { bbox: feature["bbox"] }), ...(time !== undefined && time !== null && { time }) })}
      <h2>Properties</h2>
      ${renderValue(others)}
      ${
        assets.length > 0 &&
        html`<h2>Files</h2>
          ${renderAssets(assets)}`
      }
      ${
        Array.isArray(feature["links"]) &&
        html`<h2>Links</h2>
          ${renderLinks(feature["links"] as readonly Json[])}`
      }`,
  };
}

function renderAssets(assets: readonly (readonly [string, Json])[]): Html {
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">File</th>
          <th scope="col">Address</th>
          <th scope="col">Type</th>
          <th scope="col">Roles</th>
        </tr>
      </thead>
      <tbody>
        ${assets.slice(0, 500).map(([key, { href, title, type, roles }]) => {
          const address = typeof href === "string" ? href : "";
          return html`<tr>
            <td>${typeof title === "string" ? title : key}</td>
            <td>${toHref(href) === "#" ? html`<code>${address}</code>` : html`<a href="${address}">${address}</a>`}</td>
            <td>${typeof type === "string" ? type : ""}</td>
            <td>${Array.isArray(roles) ? roles.join(", ") : ""}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}
