import { type Html, html } from "@swath/pages";
import { decodePercent } from "@swath/service";

import { renderLinks, renderValue, toHref } from "./values.ts";
import { renderRecord } from "./record.ts";
import { renderSearchForm } from "./search-form.ts";

type Json = Readonly<Record<string, unknown>>;

/** Where a page is, and how its request ended. */
export interface PageContext {
  readonly path: string;
  readonly status: number;
}

export interface Page {
  readonly title: string;
  readonly content: Html;
  readonly breadcrumbs: readonly { readonly label: string; readonly href: string }[];
}

/** The page of a JSON document of STAC API, OGC API Features or Records. */
export function toPage(document: unknown, context: PageContext): Page {
  const breadcrumbs = toTrail(context.path);
  const value = (typeof document === "object" && document !== null ? document : { value: document }) as Json;
  const { title, content } = context.status >= 400 ? toProblem(value, context) : toContent(value, context.path);
  return { title, content, breadcrumbs };
}

function toContent(value: Json, path: string): { title: string; content: Html } {
  if (value["type"] === "FeatureCollection") {
    return toResults(value, path);
  }
  if (value["type"] === "Feature") {
    return renderRecord(value);
  }
  if (Array.isArray(value["collections"])) {
    return toCollections(value);
  }
  const title = textOf(value["title"]) ?? textOf(value["id"]) ?? titleOf(path);
  const { links, conformsTo, title: _title, description, ...others } = value;
  const isCollection = value["type"] === "Collection";
  return {
    title,
    content: html`<h1>${title}</h1>
      ${typeof description === "string" && html`<p>${description}</p>`}
      ${
        isCollection &&
        html`<h2>Search</h2>
          ${renderSearchForm(`${path.split("?")[0]}/items`)}`
      }
      ${
        Object.keys(others).length > 0 &&
        html`<h2>${isCollection ? "Collection" : "Content"}</h2>
          ${renderValue(others)}`
      }
      ${
        Array.isArray(conformsTo) &&
        html`<h2>Conformance</h2>
          ${renderValue(conformsTo)}`
      }
      ${
        Array.isArray(links) &&
        html`<h2>Links</h2>
          ${renderLinks(links as readonly Json[])}`
      }`,
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function titleOf(path: string): string {
  const last =
    path
      .split("?")[0]
      ?.split("/")
      .findLast((part) => part !== "") ?? "";
  return last === ""
    ? "Resource catalogue"
    : decodePercent(last).charAt(0).toUpperCase() + decodePercent(last).slice(1);
}

function toCollections(value: Json): { title: string; content: Html } {
  const collections = value["collections"] as readonly Json[];
  const links = (value["links"] ?? []) as readonly Json[];
  return {
    title: "Collections",
    content: html`<h1>Collections</h1>
      ${
        collections.length === 0
          ? html`<p>There is no collection here that you may see.</p>`
          : html`<div class="scroll">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Title</th>
                    <th scope="col">Id</th>
                    <th scope="col">Description</th>
                  </tr>
                </thead>
                <tbody>
                  ${collections.map((collection) => {
                    const id = textOf(collection["id"]) ?? "";
                    const self = ((collection["links"] ?? []) as readonly Json[]).find(({ rel }) => rel === "self");
                    return html`<tr>
                      <td><a href="${toHref(self?.["href"])}">${textOf(collection["title"]) ?? id}</a></td>
                      <td><code>${id}</code></td>
                      <td>${shorten(textOf(collection["description"]) ?? "")}</td>
                    </tr>`;
                  })}
                </tbody>
              </table>
            </div>`
      }
      ${renderPaging(links)}`,
  };
}

function toResults(value: Json, path: string): { title: string; content: Html } {
  const features = (value["features"] ?? []) as readonly Json[];
  const links = (value["links"] ?? []) as readonly Json[];
  const matched = value["numberMatched"] ?? (value["context"] as Json | undefined)?.["matched"];
  const isLowerBound = value["numberMatchedIsLowerBound"] === true;
  return {
    title: "Records",
    content: html`<h1>Records</h1>
      ${renderSearchForm(path.split("?")[0] ?? "/", new URLSearchParams(path.split("?")[1] ?? ""))}
      <p role="status">
        ${typeof matched === "number" ? `${matched}${isLowerBound ? " or more" : ""} found, ${features.length} shown` : `${features.length} shown`}.
      </p>
      ${
        features.length > 0 &&
        html`<div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Title</th>
                <th scope="col">Time</th>
                <th scope="col">Collection</th>
                <th scope="col">Clouds</th>
              </tr>
            </thead>
            <tbody>
              ${features.map(toRow)}
            </tbody>
          </table>
        </div>`
      }
      ${renderPaging(links)}`,
  };
}

function toRow(feature: Json): Html {
  const properties = (feature["properties"] ?? {}) as Json;
  const links = (feature["links"] ?? []) as readonly Json[];
  const time = (feature["time"] ?? {}) as { timestamp?: string; date?: string; interval?: string[] };
  const when =
    textOf(properties["datetime"]) ??
    textOf(properties["start_datetime"]) ??
    time.timestamp ??
    time.date ??
    time.interval?.join(" – ") ??
    "";
  const self = links.find(({ rel }) => rel === "self");
  const cloud = properties["eo:cloud_cover"];
  return html`<tr>
    <td><a href="${toHref(self?.["href"])}">${textOf(properties["title"]) ?? String(feature["id"])}</a></td>
    <td>${when}</td>
    <td>${textOf(feature["collection"]) ?? ""}</td>
    <td>${typeof cloud === "number" ? `${Math.round(cloud)} %` : ""}</td>
  </tr>`;
}

function renderPaging(links: readonly Json[]): Html | false {
  const shown = links.filter(({ rel, method }) => (rel === "prev" || rel === "next") && method !== "POST");
  return (
    shown.length > 0 &&
    html`<nav aria-label="Pages">
      <p>
        ${shown.map(({ rel, href }) => html`<a rel="${String(rel)}" href="${toHref(href)}">${rel === "next" ? "Next page" : "Previous page"}</a> `)}
      </p>
    </nav>`
  );
}

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);

function toProblem(value: Json, { status }: PageContext): { title: string; content: Html } {
  const title = textOf(value["title"]) ?? `Error ${status}`;
  return {
    title,
    content: html`<h1>${title}</h1>
      <p role="alert">${textOf(value["detail"]) ?? ""}</p>
      ${Array.isArray(value["errors"]) && renderValue(value["errors"])}`,
  };
}

/** The way to an address: each part of its path. */
function toTrail(url: string): Page["breadcrumbs"] {
  const parts = (url.split("?")[0] ?? "").split("/").filter((part) => part !== "");
  return [
    { label: "Catalogue", href: "/?f=html" },
    ...parts.map((part, index) => ({
      label: decodePercent(part),
      href: `/${parts.slice(0, index + 1).join("/")}?f=html`,
    })),
  ];
}
