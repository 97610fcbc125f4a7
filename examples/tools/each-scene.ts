import { ToolError } from "./errors.ts";
import { type Scene, readScenes } from "./scene.ts";
import { writeCatalog } from "./write-result.ts";

/** What was made of a scene: the id of its item, and a line for the log. */
interface Made {
  readonly id: string;
  readonly said: string;
}

/**
 * Works on every scene of a directory, one after another: a directory holds one when an item was named, and all that were found
 * when a search was. The results are one catalogue.
 * @throws {ToolError} for a directory without scenes, or with two of one name
 */
export async function ofEachScene(directory: string, work: (scene: Scene) => Promise<Made>): Promise<string> {
  const scenes = await readScenes(directory);
  if (scenes.length === 0) {
    throw new ToolError(`${directory}/catalog.json has no items; name a scene, or a search that finds some`);
  }
  const made = new Map<string, Made>();
  for (const scene of scenes) {
    const { id } = scene.item;
    if (made.has(id)) {
      throw new ToolError(`the scene "${id}" is twice in ${directory}; name each scene once`);
    }
    made.set(id, await work(scene));
  }
  const all = [...made.values()];
  if (all.length > 1) {
    await writeCatalog(
      ".",
      "results",
      all.map(({ id }) => `${id}.json`),
    );
  }
  return all.map(({ said }) => said).join("\n");
}
