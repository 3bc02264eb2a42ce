import * as Os from "node:os"
import * as Attempt from "../domain/Attempt.js"

/** Returns the user's home directory from the system's list of accounts, whatever `HOME` says. */
export const home = (): string | undefined => Attempt.orUndefined(() => Os.userInfo().homedir)
