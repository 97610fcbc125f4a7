import assert from "node:assert/strict";
import { test } from "node:test";
import { CwlError } from "../errors.ts";
import { replacedFlags, takenFlags } from "./flags-of-others.ts";
import type { RunFlags } from "./run-flags.ts";
import { checkFlags, helpOf, parseOptions, takesValue } from "./run-flags.ts";

/** Flags of the reference runner's own help (3.3.20260925), but for those that print a help or version. */
const REFERENCE = `add-ga4gh-tool-registry basedir beta-conda-dependencies beta-dependencies-directory
beta-dependency-resolvers-configuration beta-use-biocontainers cachedir cidfile-dir cidfile-prefix compute-checksum copy-outputs
custom-net debug default-container disable-color disable-ga4gh-tool-registry disable-host-provenance disable-js-validation disable-pull
disable-user-provenance disable-validate doc-cache enable-color enable-dev enable-ext enable-ga4gh-tool-registry enable-host-provenance
enable-pull enable-user-provenance eval-timeout fast-parser force-docker-pull full-name js-console js-hint-options-file leave-container
leave-outputs leave-tmpdir log-dir make-template move-outputs mpi-config-file no-compute-checksum no-container no-doc-cache
no-match-user no-read-only no-warnings non-strict on-error orcid outdir overrides pack parallel parallel-max podman
preserve-entire-environment preserve-environment print-deps print-dot print-input-deps print-pre print-rdf print-subgraph
print-supported-versions print-targets provenance quiet rdf-serializer record-container-id relative-deps relax-path-checks rm-container
rm-tmpdir single-process single-step singularity singularity-sandbox-path skip-schemas strict strict-cpu-limit strict-memory-limit
target timestamps tmp-outdir-prefix tmpdir-prefix tool-help udocker user-space-docker-cmd validate verbose write-summary`.split(
  /\s+/,
);

test("every flag of the reference runner works, is taken, or says what takes its place; help has all of them", () => {
  const help = helpOf("run");
  for (const name of REFERENCE) {
    assert.ok(name in parseOptions, `--${name}`);
    assert.match(help, new RegExp(`^  --${name}( [A-Z|a-z]+)?(\\s{2,}|\\n {34})\\S`, "m"));
  }
  for (const [name, flag] of Object.entries(replacedFlags)) {
    const used = { [name]: "value" in flag ? "x" : true } as unknown as RunFlags;
    assert.throws(
      () => checkFlags(used),
      (error) => error instanceof CwlError && error.code === "unsupported" && error.message.startsWith(`--${name}: `),
    );
    assert.equal(takesValue(`--${name}`), "value" in flag);
  }
  for (const name of Object.keys(takenFlags)) {
    checkFlags({ [name]: true } as unknown as RunFlags);
  }
});

test("values of flags are checked", () => {
  for (const seconds of ["0", "-1", "x", "1e9"]) {
    assert.throws(() => checkFlags({ "eval-timeout": seconds } as RunFlags), /--eval-timeout must be/);
  }
  for (const amount of ["0", "-1", "many", "Infinity"]) {
    assert.throws(() => checkFlags({ cores: amount } as RunFlags), /--cores must be a number of processors above 0/);
    assert.throws(() => checkFlags({ ram: amount } as RunFlags), /--ram must be a number of MiB above 0/);
  }
  checkFlags({ cores: "0.5", ram: "512" } as RunFlags);
  assert.throws(() => checkFlags({ "on-error": "go" } as unknown as RunFlags), /--on-error must be stop or continue/);
});
