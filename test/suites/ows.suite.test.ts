// OGC's executable test suites of WMS 1.1.1 and 1.3.0, WMTS 1.0 and WCS 2.0.1 with EO-WCS, against the example scenes. They run in TEAM
// Engine, which comes from Maven Central; nothing of theirs is kept here. Clone them from github.com/opengeospatial, and say where:
//
//     ETS_FOLDER=~/ets npm run test:suites -- ows
//
// That runs the suite of EDR (`ows-edr`) as well.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { start } from "../../components/data-access/test/fixture.ts";
import { suiteSkipReason } from "./java-suites.ts";
import { type CtlSuite, type TeamEngine, startTeamEngine } from "./team-engine.ts";

interface Expected {
  /** Tests that run. */
  readonly total: number;
  /** Tests that do not pass, with the reason. One that stands here and passes fails this test. */
  readonly exceptions: Readonly<Record<string, string>>;
}

const capabilitiesOf = (url: string, service: string, version: string) =>
  `${url}/ows?service=${service}&request=GetCapabilities&version=${version}`;

const SUITES: Readonly<Record<string, (url: string) => CtlSuite & Expected>> = {
  "WMS 1.3.0": (url) => ({
    repository: "ets-wms13",
    source: "main-auto.xml",
    test: "main:main-auto",
    suite: "wms-1.3.0:ets-wms13-auto",
    parameters: {
      "capabilities-url": capabilitiesOf(url, "WMS", "1.3.0"),
      updatesequence: "auto",
      recommended: "recommended",
    },
    total: 186,
    exceptions: {
      "recommendations:service-contact-info": "a deployment has no address or telephone number that it could tell",
      "recommendations:layer-keywordlists":
        "the example scenes have no keywords; those of collections in a catalogue are listed",
    },
  }),
  "WMS 1.1.1": (url) => ({
    repository: "ets-wms11",
    source: "main-auto.xml",
    test: "wms:main_wms_auto",
    suite: "wms:main_auto",
    parameters: {
      "capabilities-url": capabilitiesOf(url, "WMS", "1.1.1"),
      updatesequence: "auto",
      profile: "no",
      recommended: "true",
      getfeatureinfo: "true",
      feesconstraints: "false",
      bboxconstraints: "either",
    },
    total: 60,
    exceptions: {},
  }),
  "WMTS 1.0.0": (url) => ({
    repository: "ets-wmts10",
    source: "wmts-auto.xml",
    test: "wmts:main-auto",
    suite: "wmts:server.suite.base-auto",
    parameters: { "capabilities-url": capabilitiesOf(url, "WMTS", "1.0.0") },
    total: 56,
    exceptions: {
      "wmts:Server.KVP.GET.GetCapabilities.Response.TileMatrixSet.WellKnownScaleSet":
        "wants a version of EPSG's registry in the name of the system (EPSG:6.18:3:3857); clients know EPSG::3857",
      "wmts:Server.KVP.GET.GetCapabilities.Request.UpdateSequence":
        "the document has no number: what a caller may see decides what is in it",
      "wmts:Server.KVP.GET.GetCapabilities.Request.AcceptFormats":
        "looks for the field Content-Type with case; names of fields have none (RFC 9110 §5.1)",
      "wmts:Server.KVP.GET.GetCapabilities.Request.Sections.Themes": "there are no themes",
      "wmts:Server.KVP.GET.GetCapabilities.Request.Sections.Multiple":
        "there are no themes, which it asks for beside contents",
      "wmts:Server.KVP.GET.GetCapabilities.Response.Theme.LayerRef.Valid": "there are no themes",
      "wmts:Server.KVP.GET.GetTile.Optional": "the example scenes have no dimension but the time",
      "wmts:Server.KVP.GET.GetTile.Current.SampleDimension": "the example scenes have no value that is called current",
      "wmts:Server.KVP.GET.GetTile.Invalid.Tile.Row.TileMatrixSetLimits":
        "layers have no limits: tiles beside a scene are empty, not wrong",
      "wmts:Server.KVP.GET.GetTile.Invalid.Tile.Col.TileMatrixSetLimits": "the same",
    },
  }),
  "WCS 2.0.1 with its extensions and EO-WCS": (url) => ({
    repository: "ets-wcs20",
    source: "wcs2suite-auto.xml",
    test: "wcs2:main",
    suite: "wcs2:ets-wcs20-auto",
    parameters: {
      url: capabilitiesOf(url, "WCS", "2.0.1"),
      core: "core",
      ext_post: "post",
      ext_proc: "none",
      ext_scal: "scaling",
      ext_int: "interpolation",
      ext_rsub: "range subsetting",
      ext_crs: "crs",
      profile_eowcs: "eowcs",
    },
    total: 217,
    exceptions: {
      "wcs2:get-scal-req3-kvp":
        "wants coverages that call themselves grid coverages, which EO-WCS forbids (wcseo:req37)",
      "wcseo:req6": "reads the element Enveloped, which GML has not, and ends in an exception of Java",
      "wcseo:req21":
        "looks for the scenes of a mosaic in its description, where wcs2:req23 ends in an error at a second CoverageId",
      "wcseo:EO-Data-model": "ends with wcseo:req6 and wcseo:req21, which it calls",
    },
  }),
};

const skip = suiteSkipReason("cite1-utils", "ets-wms11", "ets-wms13", "ets-wmts10", "ets-wcs20");

describe("OGC's suites", { skip }, () => {
  let engine: TeamEngine | undefined;
  before(
    async () => {
      engine = await startTeamEngine([
        "cite1-utils/src/main/java/**/*.java",
        "ets-wcs20/src/main/java/org/opengis/cite/wcs20/{Utils,GeometryTransformer,exception/*}.java",
      ]);
    },
    { timeout: 600_000 },
  );
  after(() => engine?.close());

  for (const [name, suiteOf] of Object.entries(SUITES)) {
    test(`${name} passes`, { timeout: 900_000 }, async (t) => {
      const { url } = await start(t);
      const { total, exceptions, ...suite } = suiteOf(url);
      const outcomes = (await engine?.run(suite)) ?? [];
      const failed = outcomes.filter(({ status }) => status !== "Passed");
      t.diagnostic(`${outcomes.length - failed.length} of ${outcomes.length} pass`);
      for (const outcome of failed) {
        const reason = exceptions[outcome.name];
        t.diagnostic(`${outcome.name} ${outcome.status}: ${reason ?? outcome.output.slice(-1500)}`);
      }
      const names = [...new Set(failed.map((outcome) => outcome.name))];
      assert.deepEqual(names.toSorted(), Object.keys(exceptions).toSorted());
      assert.equal(outcomes.length, total);
    });
  }
});
