/** Under which name the other value of a generated secret is kept while it is being changed. */
export const otherName = (name: string): string => `also.${name}`;
