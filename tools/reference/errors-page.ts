import { REFUSALS } from "../../components/gatekeeper/errors.ts";
import { S3_ERRORS } from "../../components/objstore/errors.ts";

/** docs/reference/errors.md, from the tables that the services answer by. */
export function renderErrorsPage(): string {
  const refusals = Object.entries(REFUSALS).map(([code, { status, detail }]) => [code, status, `${detail}.`] as const);
  const s3 = Object.entries(S3_ERRORS).map(([code, [status, detail]]) => [code, status, detail] as const);
  return `<!-- Generated from the services' error tables by \`npm run generate\`. Do not edit. -->

# Errors

Every error says what was wrong, where, and what is allowed. Its \`requestId\` (or \`RequestId\`) is in the log of the service that
answered: \`bin/swath logs SERVICE\`.

| service | form of an error |
| --- | --- |
| JSON interfaces | problem details (RFC 9457, \`application/problem+json\`): \`type\`, \`title\`, \`status\`, \`detail\`, \`instance\`, \`requestId\`; \`errors\` lists what is wrong with a request, each with its path |
| gatekeeper, before a protected service | problem details with the \`code\` below |
| processing service | problem details with the exception types of OGC API - Processes: [table](processing.md) |
| workspace API | \`detail\` as its clients know it (a text, or the list of what is wrong), with \`message\` for people; 404 also for workspaces that are none of the caller's business |
| identity service | OAuth's \`error\` and \`error_description\` (RFC 6749 §5.2) at its protocol addresses, \`errorMessage\` at its admin interface: [standards](identity.md) |
| object store | S3's XML with \`Code\` and \`Message\`, below |
| commands | the reason on standard error and an exit status: [commands](commands.md) |

## Gatekeeper

${renderTable(refusals)}

## Object store

${renderTable(s3)}
`;
}

function renderTable(rows: readonly (readonly [code: string, status: number, detail: string])[]): string {
  const lines = rows
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, status, detail]) => `| \`${code}\` | ${status} | ${detail.replaceAll("|", "\\|")} |`);
  return `| code | status | meaning |\n| --- | --- | --- |\n${lines.join("\n")}`;
}
