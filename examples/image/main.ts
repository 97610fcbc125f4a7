// `tools/node examples/image/main.ts [podman|docker]` builds the image of the example packages and prints its name.
import { buildImage } from "./build.ts";

console.log(buildImage(process.argv[2] ?? "podman", process.env));
