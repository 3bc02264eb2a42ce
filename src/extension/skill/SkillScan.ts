/** Finds the skills in a list of directories. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import type { Program } from "../../command/CommandHandler.js"
import * as Attempt from "../../domain/Attempt.js"
import type * as Yield from "../../domain/Yield.js"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import * as FrontMatter from "./FrontMatter.js"
import * as SkillFile from "./SkillFile.js"
import type { Skill, SkillTool } from "./SkillStore.js"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

/**
 * Node runs TypeScript without an option from 22.18 and 23.6 on. The shell's node is assumed to have this process's
 * version.
 */
const typescript = [
  "tsx",
  "bun",
  ...(major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18) ? ["node"] : [])
]

/** The programs that run a file by its extension. The first that exists is used. */
const byExtension: Readonly<Record<string, ReadonlyArray<string>>> = {
  ".py": ["python3", "python"],
  ".js": ["node"],
  ".mjs": ["node"],
  ".cjs": ["node"],
  ".ts": typescript,
  ".mts": typescript,
  ".cts": typescript,
  ".sh": ["bash"],
  ".bash": ["bash"],
  ".rb": ["ruby"],
  ".pl": ["perl"],
  ".php": ["php"]
}

const interpretersOf = (path: string): ReadonlyArray<string> | undefined => {
  const extension = Path.extname(path).toLowerCase()
  return Object.hasOwn(byExtension, extension) && !/\.d\.[mc]?ts$/i.test(path) ? byExtension[extension] : undefined
}

/** The first bytes of executables: ELF, and the formats of macOS. */
const binaries = ["7f454c46", "cffaedfe", "cefaedfe", "cafebabe"]

/** The most bytes of a first line that Linux reads. */
const longestLine = 256

/**
 * Returns the program that runs a file of a skill. `args` are passed unchanged.
 *
 * @param real the real path of the skill's directory
 */
export const programOf = (path: string, real: string, args: ReadonlyArray<string>): Program => {
  const head = Either.match(SkillFile.read(path, real, longestLine), {
    onLeft: () => Buffer.alloc(0),
    onRight: ({ bytes }) => bytes
  })
  const first = shebang(head.toString().split(/\r?\n/, 1)[0] ?? "")
  if (first !== undefined) return { names: first.names, args: [...first.args, path, ...args], file: path }
  const names = interpretersOf(path)
  return names === undefined ? { names: [path], args } : { names, args: [path, ...args], file: path }
}

/**
 * Reads a `#!` line as Linux does, with the rest as one argument. Skips `env`, so that an error names the missing
 * interpreter.
 */
const shebang = (line: string): Program | undefined => {
  const [, interpreter, rest = ""] = /^#![ \t]*([^ \t\0]+)(?:[ \t]+([^\0]*?))?[ \t\r]*$/.exec(line) ?? []
  if (interpreter === undefined) return undefined
  if (Path.basename(interpreter) === "env" && /^\w[\w.+-]*$/.test(rest)) {
    return { names: rest === "python" ? ["python", "python3"] : [rest], args: [] }
  }
  return { names: [interpreter], args: rest === "" ? [] : [rest] }
}

interface Found {
  readonly tools: ReadonlyArray<SkillTool>
  /** What was left out, and why. */
  readonly problems: ReadonlyArray<string>
}

const deepest = 5
const mostEntries = 2000
const mostTools = 200

/** Matches a name that can be a part of a command's name. */
const callable = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+@-]*$/u

const passedOver = new Set(["__pycache__", "node_modules", "__init__.py", "__main__.py"])

/**
 * Finds the programs of the skill in a directory.
 *
 * @param real the directory's real path
 */
const find = (directory: string, real: string): Found => {
  const files: Array<{ readonly words: ReadonlyArray<string>; readonly path: string }> = []
  const problems: Array<string> = []
  let entries = 0

  const leavesOut = (path: string, why: string) => problems.push(`${Path.relative(directory, path)} ${why}`)

  const walk = (parent: string, words: ReadonlyArray<string>): void => {
    for (const entry of readNames(parent)) {
      if (entry.startsWith(".") || passedOver.has(entry)) continue
      if (++entries > mostEntries || files.length >= mostTools) return
      const path = `${parent}/${entry}`
      const itself = statOf(path, Fs.lstatSync)
      const stat = itself?.isSymbolicLink() === true ? statOf(path, Fs.statSync) : itself
      if (stat === undefined) continue
      if (itself?.isSymbolicLink() === true && !HostPath.isWithin(SkillFile.realOf(path) ?? "/", real)) {
        leavesOut(path, "is a link that leads out of the skill: no tool")
      } else if (stat.isDirectory()) {
        if (itself?.isDirectory() === true && words.length < deepest && callable.test(entry))
          walk(path, [...words, entry])
      } else if (stat.isFile() && canRun(path, stat, real)) {
        if (callable.test(entry)) files.push({ words: [...words, entry], path })
        else leavesOut(path, "has a name that no command can have: no tool")
      }
    }
  }

  const scripts = `${directory}/scripts`
  const at = HostPath.isMissing(scripts) ? undefined : SkillFile.realOf(scripts)
  if (at !== undefined && !HostPath.isWithin(at, real))
    leavesOut(scripts, "is a link that leads out of the skill: no tools")
  else if (at !== undefined) walk(scripts, [])
  if (entries > mostEntries || files.length >= mostTools)
    problems.push(`only ${files.length} programs of scripts are tools`)
  return { tools: named(files), problems }
}

/** Names files without their extensions, if that leaves the names unique. */
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

/** Tests whether a file is a program, by its extension or its first bytes. */
const canRun = (path: string, stat: Fs.Stats, real: string): boolean => {
  if (interpretersOf(path) !== undefined) return true
  const isExecutable = (stat.mode & 0o111) !== 0
  if (!isExecutable && Path.extname(path) !== "") return false
  const head = SkillFile.read(path, real, 4)
  if (Either.isLeft(head)) return false
  const { bytes } = head.right
  return bytes.toString("latin1").startsWith("#!") || (isExecutable && binaries.includes(bytes.toString("hex")))
}

const readNames = (directory: string): ReadonlyArray<string> =>
  Attempt.orElse(() => Fs.readdirSync(directory).sort(), [])

const statOf = (path: string, stat: (path: string) => Fs.Stats): Fs.Stats | undefined =>
  Attempt.orUndefined(() => stat(path))

export interface Root {
  readonly source: Skill["source"]
  readonly directory: string
  /** The real directory that all of its skills must lie in. Undefined if they may lie anywhere. */
  readonly within?: string
}

/** The largest `SKILL.md`, in bytes. */
const longest = 1024 ** 2
/** The bytes of it that are read for the front matter. */
const headLength = 64 * 1024
const mostSkills = 2000

const longestName = 100

/** Tests for a valid skill name, which is also a part of its tools' commands. */
export const isName = (name: string): boolean => name.length <= longestName && callable.test(name)

const unusable = "it can't be used: "

/** Tests whether a skill can be loaded, even if it has other problems. */
export const isUsable = ({ problem }: Skill): boolean => problem?.startsWith(unusable) !== true

const missing = `${unusable}it has no SKILL.md`

const outside = `${unusable}it is a link that leads out of the project`

const leadsOut = (real: string, { within }: Root): boolean => within !== undefined && !HostPath.isWithin(real, within)

/** Sorted by name. */
export function* look(roots: ReadonlyArray<Root>): Yield.Steps<ReadonlyArray<Skill>> {
  const byName = new Map<string, Array<Skill>>()
  for (const root of roots) {
    const names = readNames(root.directory).filter((name) => !name.startsWith("."))
    for (const name of names.slice(0, mostSkills)) {
      const skill = skillAt(root, name)
      if (skill !== undefined) byName.set(name, [...(byName.get(name) ?? []), skill])
      yield
    }
  }
  return [...byName.values()].flatMap((same) => first(same) ?? []).sort((a, b) => (a.name < b.name ? -1 : 1))
}

export const one = (roots: ReadonlyArray<Root>, name: string): Skill | undefined =>
  isName(name) ? first(roots.flatMap((root) => skillAt(root, name) ?? [])) : undefined

/** Returns the first of several skills with one name. A directory without SKILL.md does not hide others. */
const first = (all: ReadonlyArray<Skill>): Skill | undefined => {
  const skills = all.filter(({ problem }) => problem !== missing)
  const [first, ...others] = skills.length === 0 ? all.slice(0, 1) : skills
  return first === undefined || others.length === 0
    ? first
    : { ...first, hides: others.map(({ directory }) => directory) }
}

/** Reads the instructions of a skill, or says on the left why it can't. */
export const instructions = (roots: ReadonlyArray<Root>, skill: Skill): Either.Either<string, string> => {
  const { directory, problem = "" } = skill
  if (!isUsable(skill)) return Either.left(problem)
  const root = roots.find((root) => directory.startsWith(`${root.directory}/`))
  const file = markdownOf(directory)
  const real = SkillFile.realOf(directory)
  if (root === undefined || file === undefined || real === undefined) return Either.left("its SKILL.md is missing")
  if (leadsOut(real, root)) return Either.left(outside)
  return Either.match(SkillFile.read(file, real, longest), {
    onLeft: (why) => Either.left(`its SKILL.md ${why}`),
    onRight: ({ bytes, size }) =>
      size > longest
        ? Either.left(`its SKILL.md is larger than ${longest} bytes`)
        : Either.right(FrontMatter.read(bytes.toString()).text)
  })
}

/** Returns the path of a skill's SKILL.md, if it exists. */
export const markdownOf = (directory: string): string | undefined =>
  ["SKILL.md", "skill.md"]
    .map((name) => `${directory}/${name}`)
    .find((path) => statOf(path, Fs.lstatSync) !== undefined)

const skillAt = (root: Root, name: string): Skill | undefined => {
  const directory = `${root.directory}/${name}`
  const file = markdownOf(directory)
  if (file === undefined && !HostPath.isDirectory(directory)) return undefined
  const skill: Skill = { name, description: "", directory, source: root.source, tools: [] }
  const real = SkillFile.realOf(directory) ?? directory
  if (file !== undefined && !isName(name)) {
    return { ...skill, problem: `${unusable}its name is not made of letters, digits and _ . + @ - alone` }
  }
  if (leadsOut(real, root)) return { ...skill, problem: outside }
  if (file === undefined) return { ...skill, problem: missing }
  const head = SkillFile.read(file, real, headLength)
  if (Either.isLeft(head)) return { ...skill, problem: `${unusable}its SKILL.md ${head.left}` }
  const { fields, problem } = FrontMatter.read(head.right.bytes.toString())
  const { problems, tools } = find(directory, real)
  const given = fields.get("name")
  const all = [
    problem,
    head.right.size > longest ? `its SKILL.md is larger than ${longest} bytes, and can't be loaded` : undefined,
    given !== undefined && given !== name
      ? `its front matter calls it ${JSON.stringify(given)}: both names are its own`
      : undefined,
    problem === undefined && !fields.get("description") ? "it has no description" : undefined,
    ...problems
  ].filter((one) => one !== undefined)
  return {
    ...skill,
    ...(given !== undefined && given !== name ? { title: given } : undefined),
    description: fields.get("description") ?? "",
    tools,
    ...(all.length === 0 ? undefined : { problem: all.join("; ") })
  }
}
