import { ConsoleSignIn } from "@swath/ui";

/** Log in with the platform's login, or with an access key: the root user's, or that of a service account. */
export function SignIn() {
  return (
    <ConsoleSignIn
      title="Object storage"
      or="or with an access key"
      user={{ name: "accessKey", label: "Access key" }}
      secret={{ name: "secretKey", label: "Secret key" }}
      reasons={{
        "no-role":
          "You are known to the platform, but have no rights here: none of your roles and workspaces has a bucket. Ask an administrator.",
      }}
    />
  );
}
