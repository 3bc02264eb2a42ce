/** Tells the home directory of the user's account, whatever the environment says. */
import * as Os from "node:os"
import * as GlobalValue from "effect/GlobalValue"
import * as Attempt from "../domain/Attempt.js"

/** The homes that were looked up, by user: the system reads its list of accounts for each look. */
const known = GlobalValue.globalValue("synapse/Account", () => new Map<number | undefined, string | undefined>())

/** Returns the home directory that the system's list of accounts has; undefined where it does not know the user. */
export const home = (): string | undefined => {
  const uid = process.getuid?.()
  if (!known.has(uid))
    known.set(
      uid,
      Attempt.orUndefined(() => Os.userInfo().homedir)
    )
  return known.get(uid)
}
