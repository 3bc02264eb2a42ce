/**
 * Finds the home directories, besides the one in HOME, whose secrets a session could read.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Os from "node:os"

/** The most homes that are protected: each has several rules. */
const most = 64

/** Returns the directory that the system's list of accounts names for the user. */
const ofAccount = (): ReadonlyArray<string> => {
  try {
    return [Os.userInfo().homedir]
  } catch {
    return []
  }
}

/**
 * Returns the homes in a list of accounts: those of people, and others under the directories where people's lie.
 *
 * @since 0.1.0
 * @category reading
 */
export const inPasswd = (text: string): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => {
    const [, , uid = "", , , home = ""] = line.split(":")
    const isPersons = (Number(uid) >= 1000 && Number(uid) < 65_534) || /^\/(?:home|Users)\//.test(home)
    return isPersons && /^\/[^/]+\/./.test(home) ? [home] : []
  })

const ofOthers = (): ReadonlyArray<string> => {
  try {
    return process.getuid?.() === 0 ? inPasswd(Fs.readFileSync("/etc/passwd", "utf8")) : []
  } catch {
    return []
  }
}

/**
 * Finds them: the account's own, where HOME is another, and for root those of all other people, whose modes do not keep
 * root out.
 *
 * @since 0.1.0
 * @category looking
 */
export const find = (userHome: string): ReadonlyArray<string> =>
  [...new Set([...ofAccount(), ...ofOthers()].map((home) => home.replace(/\/+$/, "")))]
    .filter((home) => home !== "" && home !== userHome && Fs.existsSync(home))
    .slice(0, most)
