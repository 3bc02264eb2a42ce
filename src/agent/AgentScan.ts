/**
 * Finds the files that define types of sub-agents, and reads again only those that have changed.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Either from "effect/Either"
import type * as Slices from "../domain/Slices.js"
import * as FrontMatter from "../extension/skill/FrontMatter.js"
import * as SkillFile from "../extension/skill/SkillFile.js"
import * as FileStamp from "../files/FileStamp.js"
import * as AgentType from "./AgentType.js"

/**
 * A directory of such files.
 *
 * @since 0.1.0
 * @category models
 */
export interface Root {
  readonly source: "project" | "home"
  readonly directory: string
  /** The directory that it must lie in, by its real path; undefined where it may be a link to anywhere. */
  readonly within?: string
}

/** The most bytes of a file, and the most files of a directory. */
const longest = 128 * 1024
const mostFiles = 500

interface Entry {
  readonly stamp: string
  readonly type: AgentType.AgentType
}

/**
 * The types as they were found last.
 *
 * @since 0.1.0
 * @category models
 */
export class AgentScan {
  private entries: ReadonlyMap<string, Entry> = new Map()
  private types: ReadonlyArray<AgentType.AgentType> = AgentType.all

  constructor(private readonly roots: ReadonlyArray<Root>) {}

  /** The types that were found last, sorted by name; the same array until they change. */
  get found(): ReadonlyArray<AgentType.AgentType> {
    return this.types
  }

  /** Tests whether there are any files; it reads none. */
  get hasFiles(): boolean {
    return this.roots.some(({ directory }) => namesIn(directory).length > 0)
  }

  /** Looks for types. One at a time: a look that rests must not meet another. */
  *look(parser: FrontMatter.Parser | undefined): Slices.Steps<ReadonlyArray<AgentType.AgentType>> {
    const entries = new Map<string, Entry>()
    const byName = new Map(AgentType.all.map((type) => [type.name, type]))
    const unusable: Array<AgentType.AgentType> = []
    for (const root of this.roots) {
      const names = namesIn(root.directory)
      const [first, ...others] = names.slice(mostFiles)
      if (first !== undefined) {
        const stamp = `${first} ${others.length}`
        // A file's path ends with its name.
        const known = this.entries.get(root.directory)
        const entry = known?.stamp === stamp ? known : { stamp, type: leftOut(root, first, others.length) }
        entries.set(root.directory, entry)
        unusable.push(entry.type)
      }
      for (const name of names.slice(0, mostFiles)) {
        const path = `${root.directory}/${name}`
        const entry = this.entryOf(root, path, name, parser)
        entries.set(path, entry)
        const { type } = entry
        if (!type.isUsable) unusable.push(type)
        else if (!byName.has(type.name)) byName.set(type.name, type)
        yield
      }
    }
    const types = [...byName.values(), ...unusable].sort((a, b) => (a.name < b.name ? -1 : 1))
    this.entries = entries
    if (types.length !== this.types.length || types.some((type, at) => type !== this.types[at])) this.types = types
    return this.types
  }

  private entryOf(root: Root, path: string, name: string, parser: FrontMatter.Parser | undefined): Entry {
    const stamp = `${parser === undefined} ${FileStamp.of(path).text}`
    const known = this.entries.get(path)
    return known?.stamp === stamp ? known : { stamp, type: read(root, path, name.replace(/\.md$/i, ""), parser) }
  }
}

/** The names of a directory's markdown files, but for hidden ones, in order. */
const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    if (Fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return []
    return Fs.readdirSync(directory)
      .filter((name) => /^[^.].*\.md$/i.test(name))
      .sort()
  } catch {
    return []
  }
}

const unusableOf = (name: string, source: Root["source"], problem: string): AgentType.AgentType => ({
  ...AgentType.ofFile(name, source, { fields: new Map(), text: "", problem: `it can't be used: ${problem}` }),
  isUsable: false
})

/** Says that there are more files than are read, at the first of those that are not. */
const leftOut = ({ source }: Root, name: string, others: number): AgentType.AgentType => {
  const rest = others === 0 ? "is" : `and ${others} ${others === 1 ? "other" : "others"} are`
  const problem = `there are more than ${mostFiles} files: this one ${rest} not read`
  return unusableOf(name.replace(/\.md$/i, ""), source, problem)
}

const read = (
  { directory, source, within }: Root,
  path: string,
  name: string,
  parser: FrontMatter.Parser | undefined
): AgentType.AgentType => {
  const failed = (problem: string): AgentType.AgentType => unusableOf(name, source, problem)
  const real = SkillFile.realOf(directory)
  if (real === undefined) return failed("its directory is missing")
  if (within !== undefined && !SkillFile.isWithin(real, within))
    return failed("its directory is a link that leads out of the project")
  return Either.match(SkillFile.read(path, real, longest), {
    onLeft: (why) => failed(`it ${why.replace("out of the skill", "out of its directory")}`),
    onRight: ({ bytes, size }) =>
      size > longest
        ? failed(`it is larger than ${longest} bytes`)
        : AgentType.ofFile(name, source, FrontMatter.read(bytes.toString(), parser))
  })
}
