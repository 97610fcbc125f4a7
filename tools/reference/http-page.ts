import { type OpenApiDocument, SERVICE_NAMES, type ServiceName, readDocument } from "./openapi.ts";

/** docs/reference/http.md: every request of the JSON interfaces, from the documents that the services serve themselves. */
export async function renderHttpPage(): Promise<string> {
  const sections: string[] = [];
  for (const name of SERVICE_NAMES) {
    sections.push(renderService(name, await readDocument(name)));
  }
  return `<!-- Generated from the services' routes by \`npm run generate\`. Do not edit. -->

# HTTP interfaces

\`bin/swath urls\` prints the addresses of a deployment. A service with a JSON interface serves its OpenAPI 3.0 document at \`/openapi.json\` (3.1
with \`Accept: application/vnd.oai.openapi+json;version=3.1\`) and an interactive page at \`/docs\`, which works in a browser that has logged in at the portal. The same documents, for programs that generate clients:
${SERVICE_NAMES.map((name) => `[${name}](openapi/${name}.json)`).join(", ")}.

Other interfaces follow standards that have documents of their own: the [identity service](identity.md) (OpenID Connect, UMA,
administration), the [object store](s3-operations.md) (S3), the [processing service's conformance](processing.md) (OGC API - Processes).
How each says what was wrong: [errors](errors.md).

${sections.join("\n")}`;
}

function renderService(name: ServiceName, { info, paths = {} }: OpenApiDocument): string {
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { summary = "" }]) => `| \`${method.toUpperCase()} ${path}\` | ${summary.replaceAll("|", "\\|")} |`,
    ),
  );
  return `## ${info.title}

${info.description ?? ""}

[openapi/${name}.json](openapi/${name}.json)

| request | what it does |
| --- | --- |
${rows.join("\n")}
`;
}
