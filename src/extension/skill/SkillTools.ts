/**
 * Finds the programs of a skill: the files below its `scripts` that can be run.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Interpreter from "./Interpreter.js"
import * as SkillFile from "./SkillFile.js"
import type { SkillTool } from "./SkillStore.js"

/**
 * The programs of a skill.
 *
 * @since 0.1.0
 * @category models
 */
export interface Found {
  readonly tools: ReadonlyArray<SkillTool>
  /** What was left out, and why. */
  readonly problems: ReadonlyArray<string>
  /** The directories that were read. */
  readonly directories: ReadonlyArray<string>
}

const deepest = 5
const mostEntries = 2000
const mostTools = 200

const callable = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+@-]*$/u

/**
 * Tests whether a name can be a part of a command's.
 *
 * @since 0.1.0
 */
export const isCallable = (name: string): boolean => callable.test(name)

const passedOver = new Set(["__pycache__", "node_modules", "__init__.py", "__main__.py"])

/**
 * Finds the programs of the skill in a directory.
 *
 * @param real the real path of that directory
 * @since 0.1.0
 * @category constructors
 */
export const find = (directory: string, real: string): Found => {
  const files: Array<{ readonly words: ReadonlyArray<string>; readonly path: string }> = []
  const problems: Array<string> = []
  const directories: Array<string> = []
  let entries = 0

  const leavesOut = (path: string, why: string) => problems.push(`${Path.relative(directory, path)} ${why}`)

  const walk = (parent: string, words: ReadonlyArray<string>): void => {
    directories.push(parent)
    for (const entry of readNames(parent)) {
      if (entry.startsWith(".") || passedOver.has(entry)) continue
      if (++entries > mostEntries || files.length >= mostTools) return
      const path = `${parent}/${entry}`
      const itself = statOf(path, Fs.lstatSync)
      const stat = itself?.isSymbolicLink() === true ? statOf(path, Fs.statSync) : itself
      if (stat === undefined) continue
      if (itself?.isSymbolicLink() === true && !SkillFile.isWithin(SkillFile.realOf(path) ?? "/", real)) {
        leavesOut(path, "is a link that leads out of the skill: no tool")
      } else if (stat.isDirectory()) {
        if (itself?.isDirectory() === true && words.length < deepest && isCallable(entry)) walk(path, [...words, entry])
      } else if (stat.isFile() && canRun(path, stat, real)) {
        if (isCallable(entry)) files.push({ words: [...words, entry], path })
        else leavesOut(path, "has a name that no command can have: no tool")
      }
    }
  }

  const scripts = `${directory}/scripts`
  const at = SkillFile.realOf(scripts)
  if (at !== undefined && !SkillFile.isWithin(at, real))
    leavesOut(scripts, "is a link that leads out of the skill: no tools")
  else if (at !== undefined) walk(scripts, [])
  if (entries > mostEntries || files.length >= mostTools)
    problems.push(`only ${files.length} programs of scripts are tools`)
  return { tools: named(files), problems, directories }
}

/** Names the files without their extensions where no other is named so. */
const named = (
  files: ReadonlyArray<{ readonly words: ReadonlyArray<string>; readonly path: string }>
): ReadonlyArray<SkillTool> => {
  const short = ({ words }: { readonly words: ReadonlyArray<string> }) =>
    [...words.slice(0, -1), Path.parse(words.at(-1) ?? "").name].join(":")
  const counts = new Map<string, number>()
  for (const file of files) counts.set(short(file), (counts.get(short(file)) ?? 0) + 1)
  return files.map((file) => ({
    name: counts.get(short(file)) === 1 ? short(file) : file.words.join(":"),
    path: file.path
  }))
}

/** Tests whether a file is a program: by its extension, or by how it begins. */
const canRun = (path: string, stat: Fs.Stats, real: string): boolean => {
  if (Interpreter.isKnown(path)) return true
  const isExecutable = (stat.mode & 0o111) !== 0
  if (!isExecutable && Path.extname(path) !== "") return false
  const head = SkillFile.read(path, real, 4)
  if (Either.isLeft(head)) return false
  const { bytes } = head.right
  return bytes.toString("latin1").startsWith("#!") || (isExecutable && Interpreter.isBinary(bytes))
}

const readNames = (directory: string): ReadonlyArray<string> => {
  try {
    return Fs.readdirSync(directory).sort()
  } catch {
    return []
  }
}

const statOf = (path: string, stat: (path: string) => Fs.Stats): Fs.Stats | undefined => {
  try {
    return stat(path)
  } catch {
    return undefined
  }
}
