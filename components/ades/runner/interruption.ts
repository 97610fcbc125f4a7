/**
 * Why a job is let go of although it is still wanted: its service ends, and another one takes the job up again. Tools that
 * outlive their runner may go on.
 */
export class Interruption extends Error {
  override readonly name = "Interruption";
}
