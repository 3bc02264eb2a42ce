/**
 * Remembers the places that commands of any session could write, in a directory that no command writes: a link in such
 * a place may be a command's, which leads the next session elsewhere.
 *
 * Each place is two empty files, named by the digest of its path and of its identity (device, inode and time of birth,
 * by which a directory is known that its user has moved): a place is added, and looked up, without a lock.
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../domain/Attempt.js"
import * as Directories from "../../files/Directories.js"
import * as BytePath from "../policy/BytePath.js"
import { isWithin } from "../policy/HostPath.js"
import * as RealPath from "../policy/RealPath.js"

/** The most files that are kept; beyond that, those go whose places were used longest ago. */
const most = 16_384

/** Milliseconds for which the time of a file counts as present. */
const recent = 24 * 3600 * 1000

const directoryIn = (home: string): string => Path.join(home, "places")

const digest = (text: string): string => Crypto.createHash("sha256").update(text).digest("hex").slice(0, 40)

const statOf = (path: string): Fs.BigIntStats | undefined =>
  Attempt.orUndefined(() => Fs.statSync(BytePath.toHost(path), { bigint: true, throwIfNoEntry: false }))

/** Returns the names of the files that stand for a place. */
const namesOf = (path: string): ReadonlyArray<string> => {
  const at = statOf(path)
  return [digest(path), ...(at === undefined ? [] : [digest(`${at.dev}:${at.ino}:${at.birthtimeNs}`)])]
}

const sweep = (directory: string): void => {
  const names = Fs.readdirSync(directory)
  if (names.length <= most) return
  const aged = names.map((name) => [statOf(Path.join(directory, name))?.mtimeMs ?? 0n, name] as const)
  for (const [, name] of aged.sort(([a], [b]) => Number(a - b)).slice(0, -Math.floor(most / 2))) {
    Fs.rmSync(Path.join(directory, name), { force: true })
  }
}

/** Adds a file, or renews its time; returns whether it is new. */
const add = (path: string): boolean => {
  const at = statOf(path)
  if (at !== undefined) {
    const now = Date.now()
    if (Number(at.mtimeMs) < now - recent) Fs.utimesSync(path, now / 1000, now / 1000)
    return false
  }
  Fs.closeSync(Fs.openSync(path, Fs.constants.O_CREAT | Fs.constants.O_WRONLY | Fs.constants.O_NOFOLLOW, 0o600))
  return true
}

/**
 * Remembers places by their real paths. Throws the file system's error where that can't be done.
 *
 * @param home the directory of Synapse's own files
 */
export const remember = (home: string, places: Iterable<string>): void => {
  // A relative home (`HOME=.`) is nobody's own.
  if (!Path.isAbsolute(home)) return
  const directory = directoryIn(home)
  const names = [...places].flatMap(namesOf)
  let isNew = false
  for (const name of names) {
    const path = Path.join(directory, name)
    try {
      isNew = add(path) || isNew
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
      Directories.makeBoth(directory)
      isNew = add(path) || isNew
    }
  }
  // Now and then is often enough, as reading the directory takes longer than all else here.
  if (isNew && names.some((name) => name.startsWith("00"))) sweep(directory)
}

const isKnown = (home: string, place: string): boolean => {
  const directory = directoryIn(home)
  return namesOf(place).some((name) => statOf(Path.join(directory, name)) !== undefined)
}

/** A link that a command may have made. */
export interface Doubt {
  /** The path of the link. */
  readonly link: string
  /** The real path that it leads to. */
  readonly target: string
  /** The real path of the place that the link lies in. */
  readonly place: string
  /** The path that was asked about, as it really is. */
  readonly real: string
}

/**
 * Returns the first link on the way to a path that lies in a place which commands could write, and leads out of it;
 * undefined where there is none.
 *
 * @param followed the path as it was resolved for what is to be done with it
 */
export const doubt = (home: string, path: string, followed = RealPath.follow(path)): Doubt | undefined => {
  const { links, real } = followed
  for (const link of links) {
    for (let place = Path.dirname(link); place !== "/"; place = Path.dirname(place)) {
      if (isWithin(real, place) || !isKnown(home, place)) continue
      return { link, target: RealPath.follow(link).real, place, real }
    }
  }
  return undefined
}

/** Says which link is in doubt, and why. */
export const describe = ({ link, place, target }: Doubt): string =>
  `${link} is a symbolic link to ${target}, and commands of an earlier session may have made it, for they could write ${place}`
