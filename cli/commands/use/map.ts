import { Readable } from "node:stream";
import { parseArgs } from "node:util";

import { saveFile } from "../../client/save-file.ts";
import { PLATFORM_HELP, openSession, platformOption } from "../../client/session.ts";
import { drawPicture, showsColours } from "../../view/draw-picture.ts";
import { CommandError, type Command } from "../command.ts";

const USAGE = `
Usage: swath map COLLECTION[/ITEM] [options]

Draws a scene, or the newest of a collection, by data access: in the terminal where it has colours, or into a file.

  --style NAME       ndvi, true-color, …; --styles lists what there is (default: the layer's own)
  --styles           list the styles
  --bbox W,S,E,N     only this box, in degrees
  --width PIXELS     (default: 512)
  --output FILE      a PNG file; - for standard output
  --workspace NAME   a layer of this workspace
${PLATFORM_HELP}`;

const DEFAULT_WIDTH = "512";
const MAX_COLUMNS = 100;

export const mapCommand: Command = {
  name: "map",
  summary: "draw a scene or result, in the terminal or into a file",
  usage: USAGE,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        style: { type: "string" },
        styles: { type: "boolean", default: false },
        bbox: { type: "string" },
        width: { type: "string", default: DEFAULT_WIDTH },
        output: { type: "string" },
        workspace: { type: "string" },
        ...platformOption,
      },
    });
    const [what, more] = positionals;
    if (what === undefined || more !== undefined) {
      throw new CommandError(`which layer? swath search lists items\n${USAGE}`, 2);
    }
    const session = await openSession(env, values.platform);
    const layer = what.split("/").map(encodeURIComponent).join("__");
    const address = `${session.address("data-access", values.workspace)}/collections/${layer}`;
    if (values.styles) {
      const { styles } = (await (await session.request(`${address}/styles`)).json()) as {
        readonly styles: readonly { readonly id: string; readonly title?: string }[];
      };
      stdout.write(styles.map(({ id, title = "" }) => `${id}  ${title}\n`).join(""));
      return 0;
    }
    const isShown = values.output === undefined;
    if (isShown && !showsColours(stdout, env)) {
      throw new CommandError("this terminal shows no pictures; --output FILE saves one", 2);
    }
    const query = new URLSearchParams({
      f: "png",
      width: values.width,
      ...(values.bbox !== undefined && { bbox: values.bbox }),
    });
    const style = values.style === undefined ? "" : `/styles/${encodeURIComponent(values.style)}`;
    const response = await session.request(`${address}${style}/map?${query.toString()}`, {
      headers: { accept: "image/png" },
    });
    if (isShown) {
      stdout.write(await drawPicture(await response.bytes(), Math.min(MAX_COLUMNS, stdout.columns - 4)));
    } else if (values.output === "-") {
      stdout.write(await response.bytes());
    } else {
      await saveFile(values.output ?? "", response.body === null ? Readable.from([]) : Readable.fromWeb(response.body));
      stdout.write(`${values.output}\n`);
    }
    return 0;
  },
};
