/** A request of a process as other programs send it. */
export interface CopiedRequest {
  readonly label: string;
  readonly text: string;
}

interface ProcessRequest {
  /** Public address of the processing service; the list of its processes is as good. */
  readonly service: string;
  readonly username: string;
  readonly process: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Address that hands out tokens. */
  readonly tokenUrl?: string;
}

/** The same execution as `curl` and as Python (standard library); the token comes from the environment, so that none is copied. */
export function toCopiedRequests({
  service,
  username,
  process,
  inputs,
  tokenUrl,
}: ProcessRequest): readonly CopiedRequest[] {
  const space = `${service.replace(/(\/ogc-api\/processes)?\/?$/, "")}/${encodeURIComponent(username)}/ogc-api`;
  const url = `${space}/processes/${encodeURIComponent(process)}/execution`;
  const body = JSON.stringify({ inputs }, null, 2);
  const hint = tokenUrl === undefined ? "" : ` (from ${tokenUrl})`;
  return [
    {
      label: "curl",
      text: [
        `# TOKEN: an access token${hint}`,
        `curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Prefer: respond-async' \\`,
        `  --data-binary @- '${url}' <<'JSON'`,
        body,
        "JSON",
        "",
      ].join("\n"),
    },
    {
      label: "Python",
      text: [
        "import json, os, time, urllib.request",
        "",
        `# TOKEN: an access token${hint}`,
        'HEADERS = {"Authorization": "Bearer " + os.environ["TOKEN"], "Content-Type": "application/json"}',
        "",
        "",
        "def call(url, body=None, **headers):",
        "    data = None if body is None else json.dumps(body).encode()",
        "    request = urllib.request.Request(url, data, {**HEADERS, **headers})",
        "    with urllib.request.urlopen(request) as response:",
        "        return json.load(response)",
        "",
        "",
        `inputs = json.loads(r'''${JSON.stringify(inputs, null, 2).replaceAll("'''", String.raw`\u0027\u0027\u0027`)}''')`,
        `job = call(${JSON.stringify(url)}, {"inputs": inputs}, Prefer="respond-async")`,
        'while job["status"] in ("accepted", "running"):',
        "    time.sleep(2)",
        `    job = call(${JSON.stringify(`${space}/jobs/`)} + job["jobID"])`,
        'print(job["status"], job["message"])',
        'if job["status"] == "successful":',
        `    print(call(${JSON.stringify(`${space}/jobs/`)} + job["jobID"] + "/results"))`,
        "",
      ].join("\n"),
    },
  ];
}
