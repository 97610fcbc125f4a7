export { type StacIssue, type StacValidator, createCollectionValidator, createItemValidator } from "./validate.ts";
