/** A user that is made once to try the deployment with. */
export interface DeclaredUser {
  readonly username: string;
  readonly password: string;
}

/**
 * Reads IDENTITY_TEST_USERS; each password comes from a variable of its own.
 * @throws {Error} naming the variable that is missing
 */
export function readTestUsers(names: string, env: NodeJS.ProcessEnv): readonly DeclaredUser[] {
  return names
    .split(",")
    .filter((name) => name !== "")
    .map((username) => {
      const variable = `TEST_USER_PASSWORD_${username.toUpperCase()}`;
      const password = env[variable];
      if (password === undefined || password === "") {
        throw new Error(`${variable}, the password of user ${username}, is missing`);
      }
      return { username, password };
    });
}
