import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { listTestUsers } from "@swath/manifest";

import { addressOf } from "../client/connect.ts";
import { withTemporaryFolder } from "../client/temporary-folder.ts";
import { CommandError } from "../commands/command.ts";
import { DEFAULT_CLUSTER } from "../targets/open-target.ts";
import { listUrls } from "../commands/operation/urls.ts";
import type { Plan } from "../platform/plan.ts";
import type { Target } from "../targets/target.ts";
import { drawPicture, showsColours } from "../view/draw-picture.ts";
import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { STORY_SERVICES, STORY_USERS, type StoryEnd, type StoryPlatform, liveStory } from "./story.ts";
import { createTypist } from "./typist.ts";

interface TourContext extends Omit<StoryContext, "folder"> {
  readonly stdout: NodeJS.WriteStream;
}

interface StoryContext {
  readonly target: Target;
  readonly plan: Plan;
  /** Name of the cluster. */
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  /** For logins and pictures. */
  readonly folder: string;
}

const PICTURE_COLUMNS = 48;

/**
 * Lives the story on a deployment, in front of who looks on.
 * @throws {CommandError} when the deployment lacks what it needs, or at the command that failed
 */
export async function runTour({ stdout, ...context }: TourContext): Promise<StoryEnd> {
  return withTemporaryFolder("tour", async (folder) => {
    const started = performance.now();
    const { platform, env } = await openStory({ ...context, folder });
    stdout.write(
      `The whole of it on the ${context.target.title}: find, look, process, share, explore.\n` +
        `Everything here can be typed, at the root of the checkout; $TOUR is a folder for files, and each person has a terminal of their own.\n`,
    );
    const end = await liveStory(platform, {
      typist: createTypist({ stdout, env, folder }),
      showPicture: async (file) => {
        if (showsColours(stdout, env)) {
          const columns = Math.min(PICTURE_COLUMNS, stdout.columns - 4);
          stdout.write(`\n${await drawPicture(readFileSync(join(folder, file)), columns)}`);
        }
      },
    });
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    const places = formatPlaces(context.plan, end);
    stdout.write(`\nDone in ${seconds} s. Look around, as eric (bin/swath credentials):\n${places}`);
    return end;
  });
}

/**
 * What the story needs to know of a deployment, on either target, and the environment of its commands.
 * @throws {CommandError} when the deployment lacks what the story needs
 */
export async function openStory({
  target,
  plan,
  name,
  env,
  folder,
}: StoryContext): Promise<{ readonly platform: StoryPlatform; readonly env: NodeJS.ProcessEnv }> {
  if (plan.settings.variant === "B") {
    throw new CommandError("the tour is about variant A; in variant B: deploy/simple/quick-procedure");
  }
  const urls = new Map(listUrls(plan));
  const lacking = STORY_SERVICES.filter((service) => !urls.has(service));
  if (lacking.length > 0) {
    throw new CommandError(
      `this deployment has no ${lacking.join(", ")}; the tour needs all components: deploy/simple/simple`,
    );
  }
  for (const [user, password] of await readPasswords(target, plan)) {
    writeFileSync(join(folder, `${user}.password`), password, { mode: 0o600 });
  }
  const curl = await writeCurlSettings(target, folder);
  const address = toPlatformAddress(plan, urls);
  return {
    platform: {
      ...(name !== DEFAULT_CLUSTER && { cluster: name }),
      address: (...where) => addressOf(address, ...where),
    },
    env: { ...env, ...curl, ...provideCurl(folder, name, env) },
  };
}

async function readPasswords(target: Target, plan: Plan): Promise<ReadonlyMap<string, string>> {
  const users = listTestUsers(plan.settings.variables);
  const found = await Promise.all(
    STORY_USERS.map(async (name) => {
      const user = users.find((each) => each.name === name);
      if (user === undefined) {
        throw new CommandError(
          `this deployment has no test user ${name}; deploy with IDENTITY_SERVICE_TEST_USERS=true`,
        );
      }
      return [name, await target.readSecret(user.password)] as const;
    }),
  );
  return new Map(found);
}

/** Scheme, domain and port that all hosts share. */
function toPlatformAddress({ settings: { scheme, domain } }: Plan, urls: ReadonlyMap<string, string>): string {
  const { port } = new URL(urls.get("identity") ?? "");
  return `${scheme}://${domain}${port === "" ? "" : `:${port}`}`;
}

/** What curl has to know where names do not resolve by themselves or certificates are the deployment's own. */
async function writeCurlSettings(target: Target, folder: string): Promise<Record<string, string>> {
  const { address, certificateAuthority } = await target.readAccess();
  if (certificateAuthority !== undefined) {
    writeFileSync(join(folder, "ca.pem"), certificateAuthority);
  }
  const lines = [
    ...(address === undefined ? [] : [`connect-to = "::${address.includes(":") ? `[${address}]` : address}:"`]),
    ...(certificateAuthority === undefined ? [] : [`cacert = "${join(folder, "ca.pem")}"`]),
  ];
  writeFileSync(join(folder, ".curlrc"), `${lines.join("\n")}\n`);
  return { CURL_HOME: folder };
}

/** Where curl is not installed, the commands that are shown run all the same. */
function provideCurl(folder: string, name: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const { PATH = "" } = env;
  if (PATH.split(":").some((each) => isExecutable(join(each, "curl")))) {
    return {};
  }
  const programs = join(folder, "bin");
  mkdirSync(programs, { recursive: true });
  const client = `exec "${repositoryRoot}/tools/node" "${repositoryRoot}/cli/tour/curl/main.ts" "$@"`;
  writeFileSync(join(programs, "curl"), `#!/bin/sh\n${client}\n`, { mode: 0o755 });
  return { PATH: `${programs}:${PATH}`, TOUR_CLUSTER: name };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function formatPlaces(plan: Plan, { jobs: [first, second], notebook }: StoryEnd): string {
  const portal = new Map(listUrls(plan)).get("portal");
  const places = [
    ...(portal === undefined
      ? []
      : [
          ["the first result on the map", `${portal}processing/jobs/${first}`],
          ["the second", `${portal}processing/jobs/${second}`],
          ["the workspace", `${portal}workspaces/ws-eric`],
        ]),
    ["the notebook", notebook],
  ];
  return places.map(([what = "", where = ""]) => `  ${what.padEnd(28)} ${where}\n`).join("");
}
