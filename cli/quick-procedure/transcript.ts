import { readFileSync } from "node:fs";

import type { Fetch } from "../targets/deployment-fetch.ts";
import { CommandError } from "../commands/command.ts";
import { showLines } from "../view/show-lines.ts";

/** A request as a person could type it. */
export interface ShownRequest {
  readonly method?: "GET" | "POST" | "PUT";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON body. */
  readonly json?: unknown;
  /** A form: fields whose value is a secret are shown by the name of the variable that holds it. */
  readonly form?: Readonly<Record<string, string | { readonly secret: string; readonly variable: string }>>;
  /** A file that is sent. */
  readonly file?: string;
  /** Headers that are sent and not shown, and the options of curl that stand for them. */
  readonly hidden?: { readonly headers: Readonly<Record<string, string>>; readonly shownAs: readonly string[] };
}

export interface ServiceResponse {
  readonly status: number;
  readonly location: string | undefined;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of the service, looked into freely
  readonly json: () => any;
}

interface SendOptions {
  /** Do not print the answer. */
  readonly quiet?: boolean;
  /** A status that is no error here, and what it means. */
  readonly fine?: readonly [status: number, meaning: string];
}

export interface Transcript {
  /** Begins a numbered step. */
  readonly step: (title: string) => void;
  /** Prints the request as a curl command, sends it, prints the answer. @throws {CommandError} when it is an error */
  readonly send: (request: ShownRequest, options?: SendOptions) => Promise<ServiceResponse>;
  /** Sends a request again that has been shown. @throws {CommandError} when the answer is an error */
  readonly repeat: (request: ShownRequest) => Promise<ServiceResponse>;
}

const LINES_SHOWN = 24;

/** Prints what is asked and answered, the way a person at a terminal would see it. */
export function createTranscript(fetch: Fetch, stdout: NodeJS.WriteStream): Transcript {
  const style = stdout.isTTY
    ? { strong: (text: string) => `\u001B[1m${text}\u001B[0m`, soft: (text: string) => `\u001B[2m${text}\u001B[0m` }
    : { strong: (text: string) => text, soft: (text: string) => text };
  let steps = 0;
  return {
    step: (title) => {
      steps += 1;
      stdout.write(`\n${style.strong(`${steps}. ${title}`)}\n`);
    },
    send: async (request, { quiet = false, fine } = {}) => {
      stdout.write(`\n$ ${toCurl(request)}\n`);
      const response = await send(fetch, request);
      if (fine?.[0] === response.status) {
        stdout.write(style.soft(`${response.status} (${fine[1]})\n`));
        return response;
      }
      if (!quiet) {
        stdout.write(style.soft(formatResponse(response)));
      }
      return check(response);
    },
    repeat: async (request) => check(await send(fetch, request)),
  };
}

function check(response: ServiceResponse): ServiceResponse {
  if (response.status >= 400) {
    throw new CommandError(`the quick procedure ends here, because the answer was ${formatResponse(response)}`);
  }
  return response;
}

async function send(fetch: Fetch, request: ShownRequest): Promise<ServiceResponse> {
  const { method = "GET", url, json, form, file, hidden } = request;
  const body =
    json !== undefined
      ? JSON.stringify(json)
      : form !== undefined
        ? new URLSearchParams(
            Object.entries(form).map(([name, value]): [string, string] => [
              name,
              typeof value === "string" ? value : value.secret,
            ]),
          ).toString()
        : file === undefined
          ? undefined
          : readFileSync(file);
  const response = await fetch(url, {
    method,
    headers: { ...toHeaders(request), ...hidden?.headers },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    location: response.headers.get("location") ?? undefined,
    text,
    json: () => JSON.parse(text),
  };
}

function toHeaders({ headers, json, form }: Partial<ShownRequest>): Record<string, string> {
  return {
    ...headers,
    ...(json !== undefined && { "content-type": "application/json" }),
    ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
  };
}

/** The command, a line an option where there are many. */
function toCurl({ method = "GET", url, headers, json, form, file, hidden }: ShownRequest): string {
  const options = [
    ...(method === "GET" || (method === "PUT" && file !== undefined) ? [] : [`-X ${method}`]),
    ...(hidden?.shownAs ?? []),
    ...Object.entries(toHeaders({ ...(headers && { headers }), ...(json !== undefined && { json }) })).map(
      ([name, value]) => `-H ${quote(`${name}: ${value}`)}`,
    ),
    ...Object.entries(form ?? {}).map(([name, value]) =>
      typeof value === "string" ? `-d ${quote(`${name}=${value}`)}` : `-d "${name}=$${value.variable}"`,
    ),
    ...(json === undefined ? [] : [`-d ${quote(JSON.stringify(json))}`]),
    ...(file === undefined ? [] : [`-T ${quote(file)}`]),
  ];
  return ["curl", ...options, quote(url)].join(options.length > 2 ? " \\\n    " : " ");
}

function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function formatResponse({ status, location, text }: ServiceResponse): string {
  return [
    String(status),
    ...(location === undefined ? [] : [`Location: ${location}`]),
    ...showLines(text, LINES_SHOWN),
    "",
  ].join("\n");
}
