/** Packages in the forms that those of the field have: how they are written, and what they are made of. The tools are small. */
export interface EoPackage {
  /** Documents below the address that the package is served at; the first is the package. */
  readonly files: Readonly<Record<string, string>>;
  /** What of the first document is meant. */
  readonly fragment?: string;
  readonly id: string;
  readonly version?: string;
  readonly inputs: (scene: string) => Readonly<Record<string, unknown>>;
  /** What one of the files of the results, or the results themselves, have in them. */
  readonly expected: RegExp;
  /** An image that has to be on this machine. */
  readonly image?: string;
}

export const stac = (scene: string) => ({ href: scene, type: "application/geo+json" });
export const METADATA = `$namespaces:
  s: https://schema.org/
s:softwareVersion: 1.4.1
s:name: Water bodies
s:dateCreated: '2022-09-01'
s:codeRepository: https://code.example/water-bodies
s:license: {s:identifier: CC-BY-SA-4.0, s:url: https://creativecommons.org/licenses/by-sa/4.0/}
s:author:
  - class: s:Person
    s:name: Doe, Jane
    s:email: jane.doe@acme.example
    s:affiliation: {s:name: ACME}
s:keywords: [water, NDWI]
s:softwareRequirements: [container runtime, cwl runner]
`;
/** Says which bands a staged scene has. */
export const LIST = "find -L \"$1\" -name '*.tif' -exec basename {} ';' | sort | tr '\\n' ' ' > bands.txt";
export const tool = (id: string, script: string, inputs: string, more = ""): string => `  - class: CommandLineTool
    id: ${id}
    hints: {DockerRequirement: {dockerPull: registry.example/eo/${id}:1.0.1}}
    requirements:
      EnvVarRequirement: {envDef: {PATH: "/srv/conda/envs/env_${id}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}
      ResourceRequirement: {}
      InlineJavascriptRequirement: {}
${more}    baseCommand: [sh, -c, ${JSON.stringify(script)}, ${id}]
    arguments: []
    inputs: ${inputs}
    outputs: {results: {type: Directory, outputBinding: {glob: .}}}
`;
