/** Tells the home directory of the user's account, whatever the environment says. */
import * as Os from "node:os"
import * as Attempt from "../domain/Attempt.js"

/** Returns the home directory that the system's list of accounts has; undefined where it does not know the user. */
export const home = (): string | undefined => Attempt.orUndefined(() => Os.userInfo().homedir)
