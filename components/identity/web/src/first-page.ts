import { createContext } from "react";

/** The page that came with the app. */
export const FirstPageContext = createContext<{ readonly address: string; readonly html: string }>({
  address: "",
  html: "",
});
