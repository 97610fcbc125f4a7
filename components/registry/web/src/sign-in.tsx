import { ConsoleSignIn } from "@swath/ui";

/** Log in with the platform's login, as administrator, or with one's secret for command lines. */
export function SignIn() {
  return (
    <ConsoleSignIn
      title="Image registry"
      or="or with a password of the registry"
      user={{ name: "user", label: "User" }}
      secret={{ name: "password", label: "Password" }}
    />
  );
}
