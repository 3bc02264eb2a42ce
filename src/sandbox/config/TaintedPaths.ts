/**
 * Remembers the places that commands of any session could write, in a directory that no command can write. A link in
 * such a place may be a command's trick to lead the next session elsewhere.
 *
 * Each place is two empty files, named by the digests of its path and of its identity. The identity (device, inode and
 * time of birth) recognises a directory that its user has moved. Adding and looking up a place needs no lock.
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Attempt from "../../domain/Attempt.js"
import * as Account from "../../files/Account.js"
import * as Directories from "../../files/Directories.js"
import * as BytePath from "../policy/BytePath.js"
import { isWithin } from "../policy/HostPath.js"
import * as RealPath from "../policy/RealPath.js"

/** The most files that are kept. Beyond that, the least recently used places are dropped. */
const most = 16_384

/** A file's time counts as current for this long, in ms. */
const recent = 24 * 3600 * 1000

const directoryIn = (home: string): string => Path.join(home, "places")

/**
 * Returns the usual directories of Synapse's own files: in the account's home, which no variable can change, and in the
 * environment's.
 */
const usual = (): ReadonlyArray<string> => {
  const homes = [Account.home(), Attempt.orUndefined(Os.homedir)]
  return [...new Set(homes)].flatMap((path) =>
    path !== undefined && Path.isAbsolute(path) && statOf(path) !== undefined ? [Path.join(path, ".synapse")] : []
  )
}

const isOwn = (path: string): boolean => Number(statOf(path)?.uid) === process.getuid?.()

/** Returns the first usual directory in a home that is the user's own. Its memory answers questions about homes. */
const account = (): string | undefined => usual().find((home) => isOwn(Path.dirname(home)))

const digest = (text: string): string => Crypto.createHash("sha256").update(text).digest("hex").slice(0, 40)

const statOf = (path: string): Fs.BigIntStats | undefined =>
  Attempt.orUndefined(() => Fs.statSync(BytePath.toHost(path), { bigint: true, throwIfNoEntry: false }))

/** Returns the names of the files that stand for a place. */
const namesOf = (path: string): ReadonlyArray<string> => {
  const at = statOf(path)
  return [digest(`written ${path}`), ...(at === undefined ? [] : [digest(`written ${identityOf(at)}`)])]
}

const identityOf = ({ birthtimeNs, dev, ino }: Fs.BigIntStats): string => `${dev}:${ino}:${birthtimeNs}`

const sweep = (directory: string): void => {
  const names = Fs.readdirSync(directory)
  if (names.length <= most) return
  const aged = names.map((name) => [statOf(Path.join(directory, name))?.mtimeMs ?? 0n, name] as const)
  for (const [, name] of aged.sort(([a], [b]) => Number(a - b)).slice(0, -Math.floor(most / 2))) {
    Fs.rmSync(Path.join(directory, name), { force: true })
  }
}

/** Adds a file or renews its time. Returns whether it is new. */
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

/** Adds a file to a memory's directory, which is created if needed. Returns whether the file is new. */
const keep = (directory: string, name: string): boolean => {
  const path = Path.join(directory, name)
  try {
    return add(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    Directories.makeBoth(directory)
    return add(path)
  }
}

const rememberIn = (directory: string, names: ReadonlyArray<string>): void => {
  const isNew = names.map((name) => keep(directory, name)).includes(true)
  // Only now and then, because reading the directory takes longer than everything else here.
  if (isNew && names.some((name) => name.startsWith("00"))) sweep(directory)
}

/**
 * Remembers places by real path, in the directory of Synapse's own files and in the account's own home. Throws the file
 * system's error if the first fails.
 *
 * @param home the directory of Synapse's own files, which no command of this session can write
 */
export const remember = (home: string, places: Iterable<string>): void => {
  // A relative home (`HOME=.`) belongs to nobody.
  if (!Path.isAbsolute(home)) return
  const all = [...places]
  const { real } = RealPath.follow(home)
  if (all.some((place) => isWithin(real, place)) && writtenAround(home) === undefined) claim(home)
  rememberIn(directoryIn(home), all.flatMap(namesOf))
  // Other programs keep homes in the shared temporary directories, and that these are writable says nothing about the
  // homes.
  const shared = [Os.tmpdir(), "/tmp", "/var/tmp"].map((path) => RealPath.follow(path).real)
  const names = all.filter((place) => !shared.includes(place)).flatMap(namesOf)
  const other = account()
  if (other !== undefined && other !== home) Attempt.orUndefined(() => rememberIn(directoryIn(other), names))
}

const isKnown = (memories: ReadonlyArray<string>, place: string): boolean =>
  namesOf(place).some((name) => memories.some((home) => statOf(Path.join(directoryIn(home), name)) !== undefined))

/** Returns the directory that holds one file for each claimed home. */
const claimsIn = (home: string): string => Path.join(home, "homes")

const nameOfClaim = (real: string): string | undefined => {
  const at = statOf(real)
  return at && digest(`home ${real} ${identityOf(at)}`)
}

/** Tests whether the account has a home directory of its own. */
const hasHome = (): boolean => {
  const home = Account.home()
  return home !== undefined && isOwn(home)
}

/**
 * Tests whether a home has files that give commands rights, run programs outside, or decide where models' keys are
 * sent.
 */
const isGranting = (home: string): boolean =>
  ["agents", "mcp", "sandbox.json", "settings.json", "skills"].some(
    (name) => statOf(Path.join(home, name)) !== undefined
  )

/**
 * Returns the place writable by commands that a home lies in or is reached through, if any.
 *
 * @param cwd the working directory of the session. It counts as such a place if the home grants rights and the account
 *   has no home directory, because then variables decide where the memory is.
 */
export const writtenAround = (home: string, cwd?: string): string | undefined => {
  const { links, real } = RealPath.follow(home)
  const place = cwd === undefined || hasHome() ? undefined : RealPath.follow(Path.resolve(cwd)).real
  if (place !== undefined && [real, ...links].some((path) => isWithin(path, place)) && isGranting(real)) return place
  const memory = account()
  if (memory === undefined || memory === home) return undefined
  const name = nameOfClaim(real)
  if (name !== undefined && statOf(Path.join(claimsIn(memory), name)) !== undefined) return undefined
  return knownAround([memory], [real, ...links])
}

const knownAround = (memories: ReadonlyArray<string>, paths: ReadonlyArray<string>): string | undefined => {
  for (const path of paths) {
    for (let at = path; at !== "/"; at = Path.dirname(at)) if (isKnown(memories, at)) return at
  }
  return undefined
}

const memoriesOf = (home: string): ReadonlyArray<string> => {
  const other = account()
  return other === undefined ? [home] : [home, other]
}

/** Tests whether commands of any session could write a file, or a link on the way to it. */
export const couldWrite = (home: string, path: string): boolean => {
  const { links, real } = RealPath.follow(path)
  return knownAround(memoriesOf(home), [real, ...links]) !== undefined
}

/**
 * Records that a home is the user's own and must be kept from all commands. Failures are ignored: the home is then
 * refused once commands could write around it.
 */
export const claim = (home: string): void => {
  const memory = account()
  if (memory === undefined || memory === home) return
  Attempt.orUndefined(() => {
    // Only the last directory is created: a missing home directory is not.
    Attempt.orUndefined(() => Fs.mkdirSync(home, { mode: 0o700 }))
    const { real } = RealPath.follow(home)
    const name = nameOfClaim(real)
    if (name === undefined) return
    Directories.makeBoth(claimsIn(memory))
    Fs.writeFileSync(Path.join(claimsIn(memory), name), real, { mode: 0o600 })
  })
}

/** Returns the homes that every session protects from its commands: the usual ones and the claimed ones. */
export const homes = (): ReadonlyArray<string> => {
  const memory = account()
  // Created now, so that it is hidden before commands with write access around it could create it.
  if (memory !== undefined) Attempt.orUndefined(() => Directories.make(memory))
  const claims = memory === undefined ? "" : claimsIn(memory)
  const claimed = (Attempt.orUndefined(() => Fs.readdirSync(claims)) ?? []).flatMap((name) => {
    const path = Path.join(claims, name)
    const real = Attempt.orUndefined(() => Fs.readFileSync(path, "utf8")) ?? ""
    if (nameOfClaim(real) === name) return [real]
    // Whatever takes the place of a deleted home belongs to nobody.
    Attempt.orUndefined(() => Fs.rmSync(path, { force: true }))
    return []
  })
  return [...usual().filter((home) => statOf(home) !== undefined), ...claimed]
}

/** A link that a command may have made. */
export interface Doubt {
  readonly link: string
  /** The real path that the link leads to. */
  readonly target: string
  /** The real path of the place that the link lies in. */
  readonly place: string
  /** The real path of the path that was asked about. */
  readonly real: string
}

/**
 * Returns the first link on the way to a path that lies in a place writable by commands and leads out of it, if any.
 *
 * @param followed the path as resolved for the operation that follows
 */
export const doubt = (home: string, path: string, followed = RealPath.follow(path)): Doubt | undefined => {
  const { links, real } = followed
  if (links.length === 0) return undefined
  const memories = memoriesOf(home)
  for (const link of links) {
    for (let place = Path.dirname(link); place !== "/"; place = Path.dirname(place)) {
      if (isWithin(real, place) || !isKnown(memories, place)) continue
      return { link, target: RealPath.follow(link).real, place, real }
    }
  }
  return undefined
}

/** Says which link is in doubt, and why. */
export const describe = ({ link, place, target }: Doubt): string =>
  `${link} is a symbolic link to ${target}, and commands of an earlier session may have made it, for they could write ${place}`
