/** Adds and removes the user's own skills. */

import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as Directories from "../../files/Directories.js"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import * as FrontMatter from "./FrontMatter.js"
import * as SkillFile from "./SkillFile.js"
import * as SkillScan from "./SkillScan.js"

export interface Added {
  readonly name: string
  readonly files: number
  /** Files that were not copied, and why. */
  readonly leftOut: ReadonlyArray<string>
}

/** Returns the rule that hides a real path from commands, if any. */
type Denies = (real: string) => string | undefined

const mostBytes = 256 * 1024 ** 2
const mostFiles = 20_000
const passedOver = new Set([".git", "node_modules", "__pycache__", ".DS_Store"])

/** Stops a copy. */
class Unfit extends Data.TaggedError("Unfit")<{ readonly reason: string }> {}

/** Runs a function that may throw, and fails with the reason in words. */
const attempt = <A>(what: string, run: () => A): Effect.Effect<A, string> =>
  Effect.try({
    try: run,
    catch: (error) => (error instanceof Unfit ? error.reason : `${what}: ${(error as Error).message}`)
  })

const shown = (path: string): string => UntrustedText.line(path, 300)

/**
 * Copies a skill completely or not at all to the user's own skills. Links within the skill are copied as their targets,
 * and other links are left out. Fails with the reason.
 *
 * @param replaces true to replace a skill of the same name
 * @param denies returns the rule that hides a file. Added files are visible to commands
 */
export const add = (skills: string, from: string, replaces: boolean, denies: Denies): Effect.Effect<Added, string> =>
  attempt(`${shown(from)} can't be added`, () => {
    const name = Path.basename(from)
    const real = SkillFile.realOf(from)
    if (real === undefined) throw new Unfit({ reason: `There is no directory ${shown(from)}.` })
    const head = SkillFile.read(SkillScan.markdownOf(from) ?? `${from}/SKILL.md`, real, 1024 ** 2)
    if (Either.isLeft(head)) throw new Unfit({ reason: `${shown(from)} is no skill: its SKILL.md ${head.left}.` })
    const { fields, problem } = FrontMatter.read(head.right.bytes.toString())
    if (!fields.get("description")) {
      throw new Unfit({ reason: `${shown(from)} is no skill: ${problem ?? "its SKILL.md has no description"}.` })
    }
    if (!SkillScan.isName(name)) {
      throw new Unfit({ reason: `No skill can have the name of this directory: ${shown(name)}.` })
    }
    const target = `${skills}/${name}`
    if (Fs.lstatSync(target, { throwIfNoEntry: false }) !== undefined && !replaces) {
      throw new Unfit({ reason: `There is a skill ${name} already: --force replaces it.` })
    }
    if (HostPath.isWithin(SkillFile.realOf(skills) ?? skills, real)) {
      throw new Unfit({ reason: `${shown(from)} holds the directory of your own skills.` })
    }
    Directories.make(skills)
    // Skills can't have hidden names, so nobody finds this one.
    const room = Fs.mkdtempSync(`${skills}/.adding-`)
    try {
      const copied = copy(real, `${room}/new`, denies)
      exchange(`${room}/new`, target, `${room}/old`)
      return { name, ...copied }
    } finally {
      Fs.rmSync(room, { recursive: true, force: true })
    }
  })

/** Replaces a directory by another. If that fails, the old one is restored. */
const exchange = (from: string, target: string, aside: string): void => {
  const isThere = Fs.lstatSync(target, { throwIfNoEntry: false }) !== undefined
  if (isThere) Fs.renameSync(target, aside)
  try {
    Fs.renameSync(from, target)
  } catch (error) {
    if (isThere) Fs.renameSync(aside, target)
    throw error
  }
}

/** Copies a directory. Leaves out links that lead out of it, hidden files, and files that can't be read. */
const copy = (from: string, to: string, denies: Denies): Omit<Added, "name"> => {
  const leftOut: Array<string> = []
  let files = 0
  let bytes = 0
  const visit = (path: string, target: string): void => {
    if (passedOver.has(Path.basename(path))) return
    const shown = Path.relative(from, path)
    if (shown.split("/").length > 20)
      throw new Unfit({ reason: "It has directories within directories without an end." })
    const real = SkillFile.realOf(path)
    if (real === undefined || !HostPath.isWithin(real, from)) return void leftOut.push(`${shown} leads out of it`)
    const denied = denies(real)
    if (denied !== undefined) return void leftOut.push(`${shown} is hidden by ${denied}`)
    const { mode, size } = Fs.statSync(real)
    if ((mode & Fs.constants.S_IFMT) === Fs.constants.S_IFDIR) {
      Fs.mkdirSync(target)
      for (const name of Fs.readdirSync(real)) visit(`${path}/${name}`, `${target}/${name}`)
      return
    }
    bytes += size
    if (++files > mostFiles || bytes > mostBytes)
      throw new Unfit({ reason: `It is larger than a skill may be (${mostFiles} files, ${mostBytes} bytes).` })
    // Reads by descriptor, because the file may have been replaced by a link.
    const content = SkillFile.read(real, from, mostBytes)
    if (Either.isLeft(content)) {
      files--
      leftOut.push(`${shown} ${content.left}`)
    } else Fs.writeFileSync(target, content.right.bytes, { mode: mode & 0o777 })
  }
  visit(from, to)
  return { files, leftOut: leftOut.sort() }
}

/**
 * Removes one of the user's own skills and returns its path. Of a link, only the link is removed. Fails with the
 * reason.
 */
export const remove = (skills: string, name: string): Effect.Effect<string, string> =>
  attempt(`${shown(name)} can't be removed`, () => {
    const path = `${skills}/${name}`
    const isThere = SkillScan.isName(name) && Fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined
    if (!isThere)
      throw new Unfit({ reason: `There is no skill ${shown(name) || "without a name"} in ${shown(skills)}.` })
    if (Fs.lstatSync(path).isSymbolicLink()) Fs.unlinkSync(path)
    else Fs.rmSync(path, { recursive: true })
    return path
  })
