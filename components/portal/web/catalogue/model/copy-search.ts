/** A search in the words of other programs. `root` is the public address of the catalogue, without a slash at its end. */
export interface CopyText {
  readonly title: string;
  readonly text: string;
}

export function listCopyTexts(root: string, body: Readonly<Record<string, unknown>>): readonly CopyText[] {
  const json = JSON.stringify({ ...body, limit: 100 });
  return [
    {
      title: "curl",
      text: `curl -X POST '${root}/stac/search' -H 'content-type: application/json' -H "authorization: Bearer $TOKEN" -d '${json.replaceAll("'", "'\\''")}'`,
    },
    { title: "pystac-client", text: toPython(root, body) },
    { title: "QGIS, STAC", text: `${root}/stac` },
    { title: "QGIS MetaSearch, CSW", text: `${root}/csw` },
  ];
}

function toPython(root: string, body: Readonly<Record<string, unknown>>): string {
  const { "filter-lang": language, ...rest } = body;
  const named = { ...rest, ...(language !== undefined && { filter_lang: language }) };
  const lines = Object.entries(named).map(([name, value]) => `    ${name}=${toPythonValue(value)},\n`);
  return [
    "import os",
    "from pystac_client import Client",
    "",
    `catalog = Client.open("${root}/stac", headers={"authorization": f"Bearer {os.environ['TOKEN']}"})`,
    `search = catalog.search(\n${lines.join("")})`,
    "items = search.item_collection()",
    "",
  ].join("\n");
}

/** JSON is Python but for three words. */
function toPythonValue(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(toPythonValue).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}: ${toPythonValue(item)}`)
      .join(", ")}}`;
  }
  return value === null ? "None" : value === true ? "True" : value === false ? "False" : JSON.stringify(value);
}
