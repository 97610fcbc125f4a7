import type { Typist } from "./typist.ts";

/** A platform to live the story on. */
export interface StoryPlatform {
  /** Its name on this machine, left out where commands find it without. */
  readonly cluster?: string | undefined;
  /** Address of a service, or of a workspace's own, without a slash at the end. */
  readonly address: (service: string, workspace?: string) => string;
  /** The application package, where its tools need another image there than in the examples. */
  readonly packageFile?: string;
}

interface StoryTools {
  readonly typist: Typist;
  /** Shows a picture that a command saved, where that can be done. */
  readonly showPicture: (file: string) => Promise<void>;
}

/** What came of it, for who wants to look closer. */
export interface StoryEnd {
  /** Ids of the jobs, which are the collections of their results, too. */
  readonly jobs: readonly [first: string, second: string];
  /** The package in the registry. */
  readonly reference: string;
  /** Where the notebook opens. */
  readonly notebook: string;
}

/** Components that the story needs, by the services that they publish. */
export const STORY_SERVICES = [
  "identity",
  "objstore",
  "registration-api",
  "resource-catalogue",
  "data-access",
  "workspace-api",
  "ades",
  "registry",
  "application-hub",
] as const;
/** The people in it, with test users' names. */
export const STORY_USERS = ["eric", "bob"] as const;

const COLLECTION = "example-scenes";
const ITEM = "S2B_T31UFS_20190411_L1C_lommel";
const SCENE = `${COLLECTION}/${ITEM}`;
/** Around Lommel, and a part of the scene with fields and woods. */
const BBOX = "5.1,51.1,5.5,51.4";
const AREA = "5.24,51.23,5.29,51.28";
/** Of the Web Mercator grid: row and column at this zoom level that hold the middle of the scene. */
const TILE = "12/1366/2107";
const PACKAGE = "examples/packages/ndvi.cwl";
const TOKEN = '-H "authorization: Bearer $(bin/swath token)"';

/**
 * The whole of what the platform is for: find, look, process, share, explore. Everything is a command that people type; a second time
 * does the same again.
 * @throws {CommandError} at the first command that is not answered as it should be, with what to do
 */
export async function liveStory(platform: StoryPlatform, tools: StoryTools): Promise<StoryEnd> {
  await harvest(platform, tools);
  await findAndLook(platform, tools);
  const first = await process(platform, tools);
  await share(platform, tools, first);
  const { typist } = tools;
  typist.step("Open a notebook that reads it", "bin/swath logs application-hub says what is the matter");
  const notebook = await typist.type("eric", "bin/swath notebook 5-read-a-result.ipynb", { prints: /^http/ });
  const { reference, job: second } = await change(platform, tools);
  await seeFromElsewhere(platform, tools, second);
  return { jobs: [first, second], reference, notebook };
}

async function harvest({ cluster }: StoryPlatform, { typist }: StoryTools): Promise<void> {
  const [platform, helper] = cluster === undefined ? ["", ""] : [` --platform ${cluster}`, ` --cluster ${cluster}`];
  typist.step(
    "Harvest a few scenes, as the operator",
    "bin/swath harvest tasks lists what went wrong; bin/swath logs registrar says more",
  );
  await typist.type("admin", `bin/swath cp --root${platform} -r examples/scenes s3://scenes`);
  await typist.type("admin", `deploy/bin/harvest examples/harvesters.yaml${helper}`, { prints: /done/ });
  await typist.type("admin", `deploy/bin/create-workspace -W eric${helper}`);
}

async function findAndLook(
  { cluster = "", address }: StoryPlatform,
  { typist, showPicture }: StoryTools,
): Promise<void> {
  typist.step("Find one in the catalogue", "bin/swath pods says whether the services run");
  for (const user of STORY_USERS) {
    const command = `bin/swath login ${cluster} --user ${user} --password-file $TOUR/${user}.password`;
    await typist.type(user, command.replace("  ", " "));
  }
  const search = `bin/swath search --collection ${COLLECTION} --bbox ${BBOX} --datetime 2019-04-01/2019-05-01`;
  await typist.type("eric", search, { prints: new RegExp(ITEM) });

  typist.step("Look at it", "bin/swath logs data-access says what is the matter");
  for (const style of ["true-color", "ndvi"]) {
    await typist.typeUntil("eric", `bin/swath map ${SCENE} --style ${style} --output $TOUR/${style}.png`);
    await showPicture(`${style}.png`);
  }
  const layer = `${address("data-access")}/collections/${COLLECTION}__${ITEM}`;
  await typist.type(
    "eric",
    `curl -fsS ${TOKEN} -o $TOUR/tile.png -w '%{http_code} %{content_type}, %{size_download} bytes\\n' ${layer}/styles/ndvi/map/tiles/WebMercatorQuad/${TILE}`,
    { prints: /^200 image\// },
  );
}

/** @returns the job's id */
async function process({ packageFile = PACKAGE }: StoryPlatform, { typist, showPicture }: StoryTools): Promise<string> {
  typist.step(
    "Run an application package on an area of it",
    "bin/swath jobs lists jobs, bin/swath jobs JOB --log prints what one said; bin/swath doctor says whether this machine can run its tools",
  );
  const command = `bin/swath run ${packageFile} scenes=${SCENE} aoi=${AREA}`;
  const job = await typist.type("eric", command, { prints: /^[\da-f-]{36}$/ });
  typist.step(
    "The result is in the own workspace's catalogue, and on the map",
    `bin/swath harvest tasks says whether it was registered; bin/swath jobs ${job} how the job ended`,
  );
  await typist.typeUntil("eric", `bin/swath search --workspace ws-eric --collection ${job}`, { prints: /_ndvi/ });
  await typist.typeUntil("eric", `bin/swath map ${job} --workspace ws-eric --output $TOUR/result.png`);
  await showPicture("result.png");
  await typist.type("eric", `bin/swath results ${job}`, { prints: /\.tif/ });
  return job;
}

async function share(_: StoryPlatform, { typist }: StoryTools, job: string): Promise<void> {
  typist.step("Share it with bob, who could not see it before", "bin/swath share lists who may read the workspace");
  const members = await typist.type("eric", "bin/swath share ws-eric");
  if (/ bob /.test(members)) {
    await typist.type("eric", "bin/swath share ws-eric bob --remove");
  }
  const look = `bin/swath map ${job} --workspace ws-eric --output $TOUR/shared.png`;
  await typist.typeUntil("bob", look, { fails: /answered 40[34]/ });
  await typist.type("eric", "bin/swath share ws-eric bob");
  await typist.typeUntil("bob", look);
  await typist.typeUntil("bob", `bin/swath search --workspace ws-eric --collection ${job}`, { prints: /_ndvi/ });
}

async function change(
  { packageFile = PACKAGE }: StoryPlatform,
  { typist }: StoryTools,
): Promise<{ readonly reference: string; readonly job: string }> {
  typist.step(
    "Change the package, push it to the registry, deploy it from there, run it again",
    "bin/swath logs registry and bin/swath logs ades say what is the matter",
  );
  const changes = ["s/id: ndvi$/id: gndvi/", "s/default: red/default: green/", "s/Version: 1.0.0/Version: 1.1.0/"];
  const edit = changes.map((change) => `-e '${change}'`).join(" ");
  await typist.type("eric", `sed ${edit} ${packageFile} > $TOUR/gndvi.cwl`);
  await typist.type("eric", `diff ${packageFile} $TOUR/gndvi.cwl || true`, { prints: /gndvi/ });
  const reference = (await typist.type("eric", "bin/swath push $TOUR/gndvi.cwl gndvi:1.1.0")).split("\n").at(-1) ?? "";
  const command = `bin/swath run ${reference} scenes=${SCENE} aoi=${AREA}`;
  const job = await typist.type("eric", command, { prints: /^[\da-f-]{36}$/ });
  return { reference, job };
}

async function seeFromElsewhere({ address }: StoryPlatform, { typist }: StoryTools, job: string): Promise<void> {
  typist.step(
    "The same as QGIS, owslib and pystac-client see it",
    "bin/swath logs resource-catalogue and bin/swath logs data-access say what is the matter",
  );
  const catalogue = address("resource-catalogue");
  const own = address("resource-catalogue", "ws-eric");
  await typist.typeUntil(
    "eric",
    `curl -fsS ${TOKEN} '${own}/stac/search?collections=${job}' | grep -o '"id":"[^"]*_ndvi"'`,
    { prints: /_ndvi/ },
  );
  await typist.type(
    "eric",
    `curl -fsS '${catalogue}/collections/metadata:main/items?ids=${ITEM}' | grep -o '"id":"${ITEM}"' | sort -u`,
    { prints: new RegExp(ITEM) },
  );
  const records =
    "service=CSW&version=2.0.2&request=GetRecords&typeNames=csw:Record&elementSetName=summary&resultType=results";
  const constraint = `constraintLanguage=CQL_TEXT&constraint=dc:identifier%3D%27${ITEM}%27`;
  await typist.type("eric", `curl -fsS '${catalogue}/csw?${records}&${constraint}' | grep -o '<dc:identifier>[^<]*'`, {
    prints: new RegExp(ITEM),
  });
  const maps = `${address("data-access", "ws-eric")}/ows?service=WMS&version=1.3.0`;
  await typist.typeUntil(
    "eric",
    `curl -fsS ${TOKEN} '${maps}&request=GetCapabilities' | grep -o '<Name>${job}</Name>'`,
    { prints: new RegExp(job) },
  );
  const picture = `&request=GetMap&layers=${job}&styles=&crs=CRS:84&bbox=${AREA}&width=256&height=256&format=image/png`;
  await typist.type(
    "eric",
    `curl -fsS ${TOKEN} -o $TOUR/wms.png -w '%{http_code} %{content_type}, %{size_download} bytes\\n' '${maps}${picture}'`,
    { prints: /^200 image\/png/ },
  );
}
