import { Readable } from "node:stream";
import { parseArgs } from "node:util";

import { listResultFiles } from "../../client/processing.ts";
import { placeWithin, saveFile } from "../../client/save-file.ts";
import { PLATFORM_HELP, openSession, platformOption } from "../../client/session.ts";
import { formatTable } from "../../view/table.ts";
import { CommandError, type Command } from "../command.ts";
import { outputOption, wantsJson } from "../output-option.ts";

const USAGE = `
Usage: swath results JOB [--download FOLDER] [-o json]

Lists the files that a job gave, or saves them in a folder.
${PLATFORM_HELP}`;

export const resultsCommand: Command = {
  name: "results",
  summary: "list or download what a job gave",
  usage: USAGE,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { download: { type: "string" }, ...outputOption, ...platformOption },
    });
    const asJson = wantsJson(values);
    const [id] = positionals;
    if (id === undefined) {
      throw new CommandError("which job? swath jobs lists them", 2);
    }
    const session = await openSession(env, values.platform);
    const files = await listResultFiles(session, id);
    if (values.download !== undefined) {
      for (const { path, href } of files) {
        const place = placeWithin(values.download, path);
        const { body } = await session.request(href, { headers: { accept: "*/*" } });
        await saveFile(place, body === null ? Readable.from([]) : Readable.fromWeb(body));
        stdout.write(`${place}\n`);
      }
      return 0;
    }
    stdout.write(
      asJson
        ? `${JSON.stringify(files, null, 2)}\n`
        : formatTable([
            ["FILE", "BYTES", "TYPE"],
            ...files.map(({ path, size, type = "" }) => [path, String(size), type]),
          ]),
    );
    return 0;
  },
};
