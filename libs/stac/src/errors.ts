/** A document that is not what STAC says, or a catalogue that cannot be walked. `where` is its address. */
export class StacError extends Error {
  override readonly name = "StacError";
  readonly where: string;
  readonly problem: string;

  constructor(where: string, problem: string, options?: ErrorOptions) {
    super(`${where}: ${problem}`, options);
    this.where = where;
    this.problem = problem;
  }
}
