import type { Plan } from "../platform/plan.ts";
import { STORY_SERVICES } from "../tour/story.ts";

/**
 * What to type after an apply, for what has been deployed: the last line is the next command, so that whoever has just deployed
 * something sees at once what it is good for.
 * @param argument the name of the cluster as an argument, with a space before it; empty for the default one
 */
export function describeNextCommand({ components, routes, settings }: Plan, argument: string): string {
  const { variables, variant } = settings;
  const has = (component: string) => components.some(({ name }) => name === component);
  const isReached = (service: string) => routes.some((route) => route.service === service);
  const hasAll = STORY_SERVICES.every(isReached);
  const [cluster, platform] = argument === "" ? ["", ""] : [` --cluster${argument}`, ` --platform${argument}`];
  if (hasAll && variant === "A" && variables.IDENTITY_SERVICE_TEST_USERS) {
    return `Next, the whole of it in a minute: deploy/simple/tour${argument}`;
  }
  if (has("ades") && has("objstore") && variables.STAGEOUT_TARGET === "objstore") {
    return `Next, a calculation on a satellite scene, request by request: deploy/simple/quick-procedure${argument}`;
  }
  if (isReached("registration-api") && has("data-access") && has("objstore")) {
    return `Next, scenes for the catalogue and the map: bin/swath cp --root${platform} -r examples/scenes s3://scenes && deploy/bin/harvest examples/harvesters.yaml${cluster}`;
  }
  if (has("application-hub") && variant === "A") {
    return `Next, a notebook: bin/swath login${argument} && bin/swath notebook`;
  }
  if (has("identity")) {
    return `Next, a user: deploy/bin/create-user -U carol${cluster}`;
  }
  return `Next, how it does: bin/swath pods${argument}`;
}
