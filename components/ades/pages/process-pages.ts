import { type Html, html } from "@swath/pages";

import type { InputDescription, ProcessDescription, Schema } from "../packages/describe.ts";
import type { Link, ApiBase } from "../routes/context.ts";
import { asPage, fields, linkList, pager, servicePage } from "./page.ts";

type Summary = Omit<ProcessDescription, "inputs" | "outputs"> & { readonly links: readonly Link[] };
type Process = ProcessDescription & { readonly links: readonly Link[] };

interface ProcessList {
  readonly processes: readonly Summary[];
  readonly links: readonly Link[];
  readonly numberTotal: number;
}

export function processListPage({ processes, links, numberTotal }: ProcessList, apiBase: ApiBase, url: string): string {
  return servicePage({
    title: "Processes",
    place: apiBase,
    breadcrumbs: [{ label: "processes", href: url }],
    url,
    content: html`<h1>Processes</h1>
      <p class="hint">
        ${numberTotal} in all. Deploy one by sending its application package here: see
        <a href="${apiBase.base}/api?f=html">the interface</a>.
      </p>
      <ul class="tiles">
        ${processes.map(
          ({ id, title, description, version, mutable, keywords, jobControlOptions, links: own }) =>
            html`<li>
              <h2><a href="${asPage(own[0]?.href ?? "")}">${title}</a></h2>
              <p><code>${id}</code> ${version} ${!mutable && html`<span class="badge">built in</span>`}</p>
              <p>${description.slice(0, 300)}</p>
              <p class="hint">${[...jobControlOptions, ...keywords].join(", ")}</p>
            </li>`,
        )}
      </ul>
      ${pager(links)}
      <section class="panel">
        <h2>Links</h2>
        ${linkList(links)}
      </section>`,
  });
}

export function processPage(process: Process, apiBase: ApiBase, url: string): string {
  const {
    id,
    title,
    description,
    version,
    mutable,
    keywords,
    jobControlOptions,
    outputTransmission,
    metadata,
    warnings,
    inputs,
    outputs,
    links,
  } = process;
  return servicePage({
    title,
    place: apiBase,
    breadcrumbs: [
      { label: "processes", href: asPage(`${apiBase.base}/processes`) },
      { label: id, href: url },
    ],
    url,
    content: html`<h1>${title}</h1>
      <p>${description}</p>
      ${warnings?.map((warning) => html`<p role="note"><span class="badge">warning</span> ${warning}</p>`)}
      <section class="panel">
        ${fields({ id, version, mutable, keywords, jobControlOptions, outputTransmission, ...(metadata && { metadata }) })}
      </section>
      <section class="panel">
        <h2>Inputs</h2>
        ${inputTable(inputs)}
      </section>
      <section class="panel">
        <h2>Outputs</h2>
        ${outputTable(outputs)}
      </section>
      <section class="panel">
        <h2>An execute request</h2>
        <pre>${example(process, apiBase)}</pre>
      </section>
      <section class="panel">
        <h2>Links</h2>
        ${linkList(links)}
      </section>`,
  });
}

function inputTable(inputs: Process["inputs"]): Html {
  return parameterTable("Inputs", inputs, {
    title: "How many",
    cell: ({ minOccurs, maxOccurs }) => html`${minOccurs} to ${maxOccurs ?? "any number"}`,
  });
}

const outputTable = (outputs: Process["outputs"]): Html => parameterTable("Outputs", outputs);

interface Parameter {
  readonly title: string;
  readonly description?: string | undefined;
  readonly schema: Schema;
}

/** Inputs or outputs, with one more column where there is more to say. */
function parameterTable<Kind extends Parameter>(
  label: string,
  parameters: Readonly<Record<string, Kind>>,
  more?: { readonly title: string; readonly cell: (parameter: Kind) => Html },
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table>
      <thead>
        <tr>
          <th>Name</th>
          <th>What it is</th>
          <th>Type</th>
          ${more && html`<th>${more.title}</th>`}
        </tr>
      </thead>
      <tbody>
        ${Object.entries(parameters).map(([name, parameter]) => {
          const { title, description, schema } = parameter;
          return html`<tr>
            <td><code>${name}</code></td>
            <td>${title} ${description !== undefined && html`<br /><span class="hint">${description}</span>`}</td>
            <td>
              ${typeText(schema)}
              ${schema["default"] !== undefined && html`<br /><span class="hint">usually <code>${JSON.stringify(schema["default"])}</code></span>`}
            </td>
            ${more && html`<td>${more.cell(parameter)}</td>`}
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

/** A schema in a few words; what it leaves out is in the document. */
function typeText(schema: Schema): string {
  const { type, format, items, oneOf, contentMediaType } = schema;
  if (Array.isArray(schema["enum"])) {
    return (schema["enum"] as unknown[]).map(String).join(" | ");
  }
  if (Array.isArray(oneOf)) {
    return (oneOf as Schema[]).map(typeText).join(", or ");
  }
  if (type === "array") {
    return `list of ${typeText((items ?? {}) as Schema)}`;
  }
  return [type ?? "anything", format, contentMediaType].filter((part) => typeof part === "string").join(", ");
}

/** The command that executes a process, with inputs to be filled in. */
function example({ id, inputs }: Process, apiBase: ApiBase): string {
  const body = JSON.stringify(
    { inputs: Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, exampleOf(input)])) },
    null,
    2,
  );
  return `curl -X POST ${apiBase.url}/processes/${encodeURIComponent(id)}/execution \\
  -H 'content-type: application/json' -H 'prefer: respond-async' -d '${body.replaceAll("'", String.raw`'\''`)}'`;
}

function exampleOf({ schema }: InputDescription): unknown {
  const [form = schema] = (schema["oneOf"] as Schema[] | undefined) ?? [];
  if (form["default"] !== undefined) {
    return form["default"];
  }
  if (Array.isArray(form["enum"])) {
    return (form["enum"] as unknown[])[0];
  }
  if (form["format"] === "uri") {
    return { href: "https://…", type: form["contentMediaType"] };
  }
  const values: Readonly<Record<string, unknown>> = {
    string: "…",
    number: 0.5,
    integer: 1,
    boolean: true,
    array: [],
    object: {},
  };
  return values[String(form["type"])] ?? "…";
}
