export { Explore } from "./explore.tsx";
