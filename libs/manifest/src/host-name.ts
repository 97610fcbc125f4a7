/** Whether a text is a host's name. What is all digits and dots is an address with a mistake. */
export function isHostName(text: string): boolean {
  return /^[a-z0-9_]([-a-z0-9_.]*[a-z0-9_])?$/i.test(text) && !/^[\d.]+$/.test(text);
}
