/**
 * Finds the skills in some directories, and reads again only those that have changed.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Either from "effect/Either"
import type * as Slices from "../../domain/Slices.js"
import * as FileStamp from "../../files/FileStamp.js"
import * as FrontMatter from "./FrontMatter.js"
import * as SkillFile from "./SkillFile.js"
import type { Skill } from "./SkillStore.js"
import * as SkillTools from "./SkillTools.js"

/**
 * A directory of skills.
 *
 * @since 0.1.0
 * @category models
 */
export interface Root {
  readonly source: Skill["source"]
  readonly directory: string
  /** The directory that all of its skills must lie in, by their real paths; undefined where they may lie anywhere. */
  readonly within?: string
}

/** The most bytes of a `SKILL.md`. */
const longest = 1024 ** 2
/** The most bytes of it that are read for its front matter. */
const headLength = 64 * 1024
/** The most skills of a directory. */
const mostSkills = 2000
/** The most directories in one that is no skill that are looked into. */
const mostInner = 50

/** The most characters of a name. */
const longestName = 100

/**
 * Tests whether a skill can have a name, which is a part of its tools' commands.
 *
 * @since 0.1.0
 */
export const isName = (name: string): boolean => name.length <= longestName && SkillTools.isCallable(name)

const unusable = "it can't be used: "

/**
 * Tests whether a skill can be loaded, whatever else is wrong with it.
 *
 * @since 0.1.0
 */
export const isUsable = ({ problem }: Skill): boolean => problem?.startsWith(unusable) !== true

const missing = `${unusable}it has no SKILL.md`

const outside = `${unusable}it is a link that leads out of the project`

const leadsOut = (real: string, { within }: Root): boolean => within !== undefined && !SkillFile.isWithin(real, within)

interface Entry {
  readonly stamp: string
  readonly skill: Skill
  /** True where its front matter was read without a parser. */
  readonly isRough: boolean
  /** The directories of its programs. */
  readonly directories: ReadonlyArray<string>
}

/**
 * Skills as they were found last.
 *
 * @since 0.1.0
 * @category models
 */
export class SkillScan {
  private entries: ReadonlyMap<string, Entry> = new Map()
  private skills: ReadonlyArray<Skill> = []
  private readonly hiding = new WeakMap<Skill, Skill>()

  constructor(private readonly roots: ReadonlyArray<Root>) {}

  /** The skills that were found last; the same array until they change. */
  get found(): ReadonlyArray<Skill> {
    return this.skills
  }

  /** Looks for skills. One at a time: a look that rests must not meet another. */
  *look(parser: FrontMatter.Parser | undefined): Slices.Steps<ReadonlyArray<Skill>> {
    const entries = new Map<string, Entry>()
    const byName = new Map<string, Array<Skill>>()
    for (const root of this.roots) {
      for (const name of namesIn(root.directory)) {
        const entry = this.entryOf(root, name, parser)
        if (entry !== undefined) {
          entries.set(entry.skill.directory, entry)
          byName.set(name, [...(byName.get(name) ?? []), entry.skill])
        }
        yield
      }
    }
    const skills = [...byName.values()]
      .flatMap((same) => this.first(same) ?? [])
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    this.entries = entries
    if (skills.length !== this.skills.length || skills.some((skill, at) => skill !== this.skills[at]))
      this.skills = skills
    return this.skills
  }

  /** Looks for one skill; its programs are found anew, for whether a file can be run does not show in its directory. */
  one(name: string, parser: FrontMatter.Parser | undefined): Skill | undefined {
    if (!isName(name)) return undefined
    return this.first(this.roots.flatMap((root) => this.entryOf(root, name, parser, true)?.skill ?? []))
  }

  /** Returns the first of the skills of a name: the same object for as long as they are the same. */
  private first(all: ReadonlyArray<Skill>): Skill | undefined {
    const skills = all.filter(({ problem }) => problem?.startsWith(missing) !== true)
    // A directory that is no skill hides none.
    const [first, ...others] = skills.length === 0 ? all.slice(0, 1) : skills
    if (first === undefined || others.length === 0) return first
    const hides = others.map(({ directory }) => directory)
    const known = this.hiding.get(first)
    if (known !== undefined && known.hides?.join("\0") === hides.join("\0")) return known
    const skill = { ...first, hides }
    this.hiding.set(first, skill)
    return skill
  }

  /** Reads the instructions of a skill that was found; on the left, why they can't be read. */
  instructions(skill: Skill): Either.Either<string, string> {
    const { directory, problem = "" } = skill
    if (!isUsable(skill)) return Either.left(problem)
    const root = this.roots.find((root) => directory.startsWith(`${root.directory}/`))
    const file = markdownOf(directory)
    const real = SkillFile.realOf(directory)
    if (root === undefined || file === undefined || real === undefined) return Either.left("its SKILL.md is missing")
    if (leadsOut(real, root)) return Either.left(outside)
    return Either.match(SkillFile.read(file, real, longest), {
      onLeft: (why) => Either.left(`its SKILL.md ${why}`),
      onRight: ({ bytes, size }) =>
        size > longest
          ? Either.left(`its SKILL.md is larger than ${longest} bytes`)
          : Either.right(FrontMatter.read(bytes.toString(), undefined).text)
    })
  }

  private entryOf(
    root: Root,
    name: string,
    parser: FrontMatter.Parser | undefined,
    isFresh = false
  ): Entry | undefined {
    const directory = `${root.directory}/${name}`
    const file = markdownOf(directory)
    if (file === undefined && !isDirectory(directory)) return undefined
    const known = isFresh ? undefined : this.entries.get(directory)
    if (known !== undefined && (!known.isRough || parser === undefined)) {
      if (known.stamp === stampOf(file ?? "", directory, known.directories)) return known
    }
    return file === undefined ? emptyEntry(root, name, directory) : entryFrom(root, name, directory, file, parser)
  }
}

/** The names of a directory, but for hidden ones, in order. */
const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    if (Fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return []
    return Fs.readdirSync(directory)
      .filter((name) => !name.startsWith("."))
      .sort()
      .slice(0, mostSkills)
  } catch {
    return []
  }
}

/** The file with a skill's instructions; undefined where a directory has none. */
const markdownOf = (directory: string): string | undefined => {
  for (const name of ["SKILL.md", "skill.md"]) {
    const path = `${directory}/${name}`
    try {
      if (Fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path
    } catch {
      // It is no directory, or can't be searched.
    }
  }
  return undefined
}

const isDirectory = (path: string): boolean => {
  try {
    return Fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
}

/** Says what a directory without instructions has instead: a file of another case or ending, or skills of its own. */
const insteadIn = (directory: string): string => {
  try {
    const names = Fs.readdirSync(directory).slice(0, mostSkills).sort()
    const file = names.find((name) => /^skills?\.(?:md|markdown|mdx|txt)$/i.test(name))
    if (file !== undefined) return `, but ${file}`
    const inner = names.slice(0, mostInner).find((name) => markdownOf(`${directory}/${name}`) !== undefined)
    return inner === undefined ? "" : `, but ${inner}/SKILL.md, which lies one level too deep`
  } catch {
    return ", or it can't be read"
  }
}

const emptyEntry = (root: Root, name: string, directory: string): Entry => {
  const real = SkillFile.realOf(directory) ?? directory
  const problem = leadsOut(real, root) ? outside : `${missing}${insteadIn(directory)}`
  const skill: Skill = { name, description: "", directory, source: root.source, tools: [], problem }
  return { stamp: stampOf("", directory, []), skill, isRough: false, directories: [] }
}

/** Changes where one of these files does. */
const stampOf = (file: string, directory: string, directories: ReadonlyArray<string>): string =>
  [file, directory, `${directory}/scripts`, ...directories].map((path) => FileStamp.of(path).text).join(";")

const entryFrom = (
  root: Root,
  name: string,
  directory: string,
  file: string,
  parser: FrontMatter.Parser | undefined
): Entry => {
  const entry = (skill: Partial<Skill>, directories: ReadonlyArray<string> = []): Entry => ({
    stamp: stampOf(file, directory, directories),
    skill: { name, description: "", directory, source: root.source, tools: [], ...skill },
    isRough: parser === undefined,
    directories
  })
  if (!isName(name)) {
    return entry({ problem: `${unusable}its name is not made of letters, digits and _ . + @ - alone` })
  }
  const real = SkillFile.realOf(directory) ?? directory
  if (leadsOut(real, root)) return entry({ problem: outside })
  const head = SkillFile.read(file, real, headLength)
  if (Either.isLeft(head)) return entry({ problem: `${unusable}its SKILL.md ${head.left}` })
  const { fields, problem } = FrontMatter.read(head.right.bytes.toString(), parser)
  const { directories, problems, tools } = SkillTools.find(directory, real)
  const given = fields.get("name")
  const all = [
    problem,
    head.right.size > longest ? `its SKILL.md is larger than ${longest} bytes, and can't be loaded` : undefined,
    given !== undefined && given !== name
      ? `its front matter calls it ${JSON.stringify(given)}; its directory's name counts`
      : undefined,
    problem === undefined && !fields.get("description") ? "it has no description" : undefined,
    ...problems
  ].filter((one) => one !== undefined)
  const optional = (key: "license" | "compatibility") => {
    const value = fields.get(key)
    return value ? { [key]: value } : undefined
  }
  return entry(
    {
      description: fields.get("description") ?? "",
      tools,
      ...optional("license"),
      ...optional("compatibility"),
      ...(all.length === 0 ? undefined : { problem: all.join("; ") })
    },
    directories
  )
}
